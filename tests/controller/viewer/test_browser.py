"""The pages in a real browser: what a person sees, clicks and is kept safe from."""

from __future__ import annotations

import re
import shutil
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from practicum.controller.outcome import Trial
from practicum.controller.store import Run
from practicum.controller.viewer.access import COOKIE, Keys
from practicum.controller.viewer.export import export
from practicum.controller.viewer.library import Library
from practicum.controller.viewer.live import LiveDesk, bare
from practicum.controller.viewer.serve import Server
from practicum.infra.desk.applications import Targets
from practicum.infra.desk.desk import DeskSpec, Label
from practicum.infra.desk.fake import FakeDesks

Finish = Callable[[Run, Trial], None]
Scheme = Literal["light", "dark"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


class Site:
    """The viewer on a free port, in a thread of this process."""

    def __init__(self, run: Run, live: LiveDesk | None = None) -> None:
        self.run = run
        self.keys = Keys()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.host = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.base = f"http://{self.host}/run/{run.root.name}"
        self._server = Server.of(Library.of([run.root]), self.keys, frozenset({self.host}), live)
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._listener]})

    def __enter__(self) -> Site:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._listener.close()

    def trial(self, index: int) -> str:
        return f"{self.base}/trial/{self.run.plan().trials[index].id}/"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    chromium = shutil.which("chromium")
    assert chromium, "the viewer's tests need Debian's chromium (make setup-dev installs it)"
    with sync_playwright() as driver, driver.chromium.launch(executable_path=chromium, args=FLAGS) as opened:
        yield opened


@pytest.fixture
def site(run: Run) -> Iterator[Site]:
    with Site(run) as opened:
        yield opened


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    with browser.new_context(viewport={"width": 1440, "height": 900}) as opened:
        opened.set_default_timeout(10_000)
        yield opened


@pytest.fixture
def page(context: BrowserContext, site: Site) -> Page:
    """Let in by the link; every script error or blocked resource fails the test that caused it."""
    opened = context.new_page()
    opened.goto(f"http://{site.host}/enter#{site.keys.token}")
    opened.wait_for_url(re.compile("/run/"))
    return opened


def test_the_link_lets_in_and_nothing_else_does(site: Site, context: BrowserContext) -> None:
    """Without the cookie every page is refused; a wrong token opens nothing; the right one does."""
    for path in ("/", f"/run/{site.run.root.name}/", site.trial(0)[len(f"http://{site.host}") :]):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(f"http://{site.host}{path}")
        with refused.value:
            assert refused.value.code == 403
    stranger = context.new_page()
    stranger.goto(f"http://{site.host}/enter#wrong")
    expect(stranger.locator("#say")).to_contain_text("not valid")


def test_another_host_name_is_refused(site: Site) -> None:
    """A page of another origin that resolves to this machine gets nothing, cookie or not."""
    headers = {"Host": "evil.example", "Cookie": f"{COOKIE}={site.keys.session}"}
    request = urllib.request.Request(site.base + "/", headers=headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    with refused.value:
        assert refused.value.code == 421


@pytest.mark.parametrize("tail", ["../../plan.json", "%2e%2e/plan.json", "0" * 63, "g" * 64, "a" * 64])
def test_no_path_from_the_browser_is_opened(site: Site, tail: str) -> None:
    """Frames and evidence are found by hash in the plan's own trials, or not at all."""
    url = f"{site.trial(0)}1/evidence/{tail}"
    request = urllib.request.Request(url, headers={"Cookie": f"{COOKIE}={site.keys.session}"})
    with pytest.raises(urllib.error.HTTPError) as missing:
        urllib.request.urlopen(request)
    with missing.value:
        assert missing.value.code == 404


def test_the_run_page_adds_up_filters_and_sorts(page: Page) -> None:
    """The totals are shown, filters narrow the matrix and the list, and headings sort."""
    expect(page.locator("#sums")).to_contain_text("6 planned = 2 scored + 1 fault + 1 cancelled + 2 pending")
    expect(page.locator("#matrix .dot")).to_have_count(6)
    page.select_option("#f-agent", "nop")
    expect(page.locator("#matrix .dot")).to_have_count(2)
    page.select_option("#f-agent", "")
    page.click("#v-list")
    page.get_by_role("button", name="score").click()
    page.get_by_role("button", name="score").click()
    expect(page.locator("#rows .row").first).to_contain_text("1.000")
    page.fill("#f-text", "told to stop")
    expect(page.locator("#rows .row")).to_have_count(1)


def test_keys_walk_the_trial_and_links_open_a_step(page: Page, site: Site) -> None:
    """Arrows step, `g` goes to a step, and the address always names the step shown."""
    page.goto(site.trial(0))
    expect(page.locator(".step.on")).to_contain_text("screenshot")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".step.on")).to_contain_text("click 80 80")
    page.keyboard.press("g")
    page.keyboard.type("8\n")
    expect(page.locator("#now h2")).to_have_text("8. click 560 400")
    assert page.url.endswith("#step=8")
    page.goto(site.trial(0) + "#step=12")
    page.reload()
    expect(page.locator("#now h2")).to_contain_text("12. type")


@pytest.mark.parametrize(("step", "x", "y"), [(4, 80, 80), (6, 1200, 80), (8, 560, 400), (10, 1200, 720)])
def test_the_ring_is_where_the_click_was(page: Page, site: Site, step: int, x: int, y: int) -> None:
    """The overlay lies on the recorded pixel, within half of one, whatever the size shown."""
    page.goto(f"{site.trial(0)}#step={step}")
    ring, picture = page.locator("#overlay .ring").first, page.locator("#under")
    picture.wait_for(state="visible")
    drawn, whole = ring.bounding_box(), picture.bounding_box()
    assert drawn
    assert whole
    scale = whole["width"] / 1280
    at = (
        (drawn["x"] + drawn["width"] / 2 - whole["x"]) / scale,
        (drawn["y"] + drawn["height"] / 2 - whole["y"]) / scale,
    )
    assert abs(at[0] - (x + 0.5)) <= 0.5
    assert abs(at[1] - (y + 0.5)) <= 0.5


def test_before_after_and_difference(page: Page, site: Site) -> None:
    """The picture flips between what was decided on and what it led to; the action is drawn on the first."""
    page.goto(f"{site.trial(0)}#step=4")
    expect(page.locator("#overlay .ring")).to_have_count(1)
    page.keyboard.press("a")
    expect(page.locator("#overlay .ring")).to_have_count(0)
    page.keyboard.press("d")
    expect(page.locator("#over")).to_be_visible()


def test_hostile_strings_stay_text(page: Page, site: Site) -> None:
    """Markup, scripts and escapes from a desk or a model are shown, never obeyed, on every page."""
    alerts: list[str] = []
    page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    for index in (0, 1, 2):
        page.goto(f"{site.trial(index)}#step=4")
        expect(page.locator("#now")).to_contain_text("<script>")
        assert page.title() != "owned"
    page.goto(site.trial(1))
    expect(page.locator(".check.bad .pair").first).to_contain_text("\\x1b[31mred")
    assert alerts == []


def test_evidence_that_could_run_is_only_a_download(page: Page, site: Site) -> None:
    """An SVG from a verifier is offered as a file; a PNG is shown."""
    page.goto(site.trial(1))
    links = page.locator(".check figcaption a")
    kinds = [
        page.request.get(f"http://{site.host}{links.nth(n).get_attribute('href')}").headers for n in range(2)
    ]
    assert kinds[0]["content-type"] == "image/png"
    assert kinds[1]["content-type"] == "application/octet-stream"
    assert kinds[1]["content-disposition"].startswith("attachment")


def test_a_finished_trial_appears_without_reloading(page: Page, site: Site, finish_well: Finish) -> None:
    """While a run goes on its page follows: a trial that finishes changes its cell and the totals."""
    pending = site.run.plan().trials[4]
    expect(page.locator(f"#c-{pending.id}")).to_have_class(re.compile("pending"))
    finish_well(site.run, pending)
    (site.run.root / "events.jsonl").write_text("{}\n")
    expect(page.locator(f"#c-{pending.id}")).to_have_class(re.compile("pass"))
    expect(page.locator("#sums")).to_contain_text("3 scored")


def test_comparison_marks_the_first_divergence(page: Page, site: Site) -> None:
    """Two trials stand side by side from the first step in which they differ."""
    first, second = (site.run.plan().trials[index].id for index in (0, 1))
    page.goto(f"{site.base}/compare/?a={first}&b={second}")
    expect(page.locator("#divergence")).to_contain_text("First divergence at step 3")
    expect(page.locator("#left .now h3").first).to_contain_text("click 1200 80")


def test_a_person_can_take_a_live_desk_over(run: Run, context: BrowserContext) -> None:
    """What is clicked and typed on the page arrives at the desk where it was meant, in order, and is kept."""
    targets = Targets(1280, 800)
    label = Label("by-hand", "t", time.time() + 600)
    desks = FakeDesks(application=lambda _: targets)
    with bare(DeskSpec("base"), desks, label) as live, Site(run, live) as site:
        page = context.new_page()
        page.goto(f"http://{site.host}/enter#{site.keys.token}")
        page.wait_for_url(re.compile("/live/"))
        picture = page.locator("#under")
        expect(picture).to_have_js_property("naturalWidth", 1280)
        box = picture.bounding_box()
        assert box
        page.mouse.click(box["x"] + 5, box["y"] + 5)
        page.click("#take")
        for number in (3, 21, 39):
            at, scale = targets.centre(number), box["width"] / 1280
            page.mouse.click(box["x"] + (at.x + 0.5) * scale, box["y"] + (at.y + 0.5) * scale)
            expect(page.locator("#script")).to_contain_text(f"hands.click({at.x}, {at.y})")
        page.keyboard.type("ab")
        page.keyboard.press("Control+s")
        expect(page.locator("#script")).to_contain_text("hands.type('ab')\n    hands.key('ctrl+s')")
    assert targets.hits == [3, 21, 39]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("where", ["", "list", "trial", "compare"])
def test_pages_are_accessible(
    browser: Browser, site: Site, where: str, scheme: Literal["light", "dark"]
) -> None:
    """No page breaks a WCAG 2.1 A or AA rule that axe-core can decide, in light or in dark."""
    first, second = (site.run.plan().trials[index].id for index in (0, 1))
    places = {"trial": site.trial(1) + "#step=4", "compare": f"{site.base}/compare/?a={first}&b={second}"}
    with browser.new_context(color_scheme=scheme, viewport={"width": 1440, "height": 900}) as context:
        page = context.new_page()
        page.goto(f"http://{site.host}/enter#{site.keys.token}")
        page.wait_for_url(re.compile("/run/"))
        if where in places:
            page.goto(places[where])
        elif where == "list":
            page.click("#v-list")
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})
        assert found.violations_count == 0, found.generate_report()


def test_the_export_works_from_a_folder(browser: Browser, run: Run, tmp_path: Path) -> None:
    """The static site opens from the disk, walks a trial, and asks nothing of any network."""
    assert export(run, tmp_path / "site") == 4
    with browser.new_context() as offline:
        asked: list[str] = []
        offline.on("request", lambda request: asked.append(request.url))
        page = offline.new_page()
        page.goto((tmp_path / "site/index.html").as_uri())
        page.locator("#matrix .dot.pass").click()
        page.keyboard.press("ArrowRight")
        expect(page.locator("#now h2")).to_contain_text("click 80 80")
        assert (
            page.locator("#under").evaluate("image => image.decode().then(() => image.naturalWidth)") == 1280
        )
        assert all(url.startswith("file:") for url in asked)
