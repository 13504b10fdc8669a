"""Key rotation: a signing key is replaced, and at no moment can anybody not verify what is signed.

Publish, let everyone pick it up, sign with it, look who still uses the old one, and only then withdraw that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from random import Random

from practicum.infra.world.rules import Rules
from practicum.infra.world.units import Minutes
from practicum.infra.world.world import View, World
from practicum.tasks.worlds.evidence import looked
from practicum.tasks.worlds.expected import Expected, became, handed_in, made, may
from practicum.tasks.worlds.scenario import Industry, NearMiss, Scenario, Setup
from practicum.tasks.worlds.worker import Stuck, Worker

SHIFT = datetime(2026, 10, 12, 8, tzinfo=UTC)
NEW = "key-new"


class KeyState(StrEnum):
    PUBLISHED = "published"
    SIGNING = "signing"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True)
class Key:
    id: str
    state: KeyState
    published_at: Minutes


@dataclass(frozen=True, slots=True)
class Client:
    """A service that verifies signatures. It fetches keys every `refresh`; one that pins does not fetch."""

    id: str
    refresh: Minutes
    registered: bool
    pins: bool
    pinned: str


@dataclass(frozen=True, slots=True)
class Known:
    """A client of the registry."""

    id: str
    refresh: Minutes


@dataclass(frozen=True, slots=True)
class Use:
    """A client in the access log: which keys it accepts right now."""

    id: str
    accepts: tuple[str, ...]
    pins: bool


@dataclass(frozen=True, slots=True)
class Lifetime:
    """How long a token that was signed stays valid."""

    id: str
    token: Minutes
    signed_until: Minutes


@dataclass(frozen=True, slots=True)
class Shift:
    """Minutes since the shift began."""

    id: str
    minute: Minutes


@dataclass(frozen=True, slots=True)
class Answer:
    """Report the rotation.

    clients: ids of all clients that verify with the new key
    updated: ids of the clients that had to be updated by hand
    """

    clients: list[str]
    updated: list[str]


def elapsed(world: View) -> int:
    return world.minutes_since(SHIFT)


def list_registered(world: View) -> list[Known]:
    """List the clients in the registry and how often each fetches keys."""
    return [Known(client.id, client.refresh) for client in world.all(Client) if client.registered]


def list_access_log(world: View) -> list[Use]:
    """List every client that verified a token in the last hour, and which keys it accepts now."""
    return [Use(client.id, accepted(world, client), client.pins) for client in world.all(Client)]


def list_keys(world: View) -> list[Key]:
    """List the keys; times are minutes since the shift began."""
    return world.all(Key)


def read_lifetime(world: View) -> Lifetime:
    """Read how long a token is valid, and when the old key signed its last one."""
    return world.one(Lifetime)


def read_clock(world: View) -> Shift:
    """Read how many minutes of the shift have gone."""
    return Shift("shift", elapsed(world))


def publish_key(world: World) -> Key:
    """Publish a new key beside the old one. It does not sign yet."""
    if world.find(Key, NEW):
        world.refuse("the new key is published already")
    return world.put(Key(NEW, KeyState.PUBLISHED, elapsed(world)))


def update_pin(world: World, client: str) -> Use:
    """Give a client that pins its key the new one as well.

    client: id of the client
    """
    item = world.get(Client, client)
    if not item.pins:
        world.refuse(f"{client} fetches keys by itself")
    world.get(Key, NEW)
    item = world.put(replace(item, pinned=NEW))
    return Use(client, accepted(world, item), item.pins)


def sign_with(world: World, key: str) -> Key:
    """Sign all tokens with this key from now on.

    key: id of a published key
    """
    item = world.get(Key, key)
    for other in world.all(Key):
        if other.state is KeyState.SIGNING:
            world.put(replace(other, state=KeyState.PUBLISHED))
    world.put(replace(world.one(Lifetime), signed_until=elapsed(world)))
    return world.put(replace(item, state=KeyState.SIGNING))


def withdraw(world: World, key: str) -> Key:
    """Withdraw a key; nobody accepts it any more. It cannot come back.

    key: id of a key that does not sign
    """
    item = world.get(Key, key)
    if item.state is not KeyState.PUBLISHED:
        world.refuse(f"{key} is {item.state}")
    return world.put(replace(item, state=KeyState.WITHDRAWN))


def wait(world: World, minutes: Minutes) -> Shift:
    """Let time pass.

    minutes: up to 240 at a time
    """
    if not 0 < minutes <= 240:
        world.refuse("wait between 1 and 240 minutes")
    world.advance(minutes)
    return Shift("shift", elapsed(world))


def accepted(world: View, client: Client) -> tuple[str, ...]:
    now = elapsed(world)
    fresh = [
        key.id
        for key in world.all(Key)
        if key.state is not KeyState.WITHDRAWN
        and (
            client.pinned == NEW or key.id != NEW if client.pins else now >= key.published_at + client.refresh
        )
    ]
    return tuple(fresh)


def everyone_verifies(world: View) -> str | None:
    """Each client accepts the key that signs."""
    signing = next(key.id for key in world.all(Key) if key.state is KeyState.SIGNING)
    blind = [client.id for client in world.all(Client) if signing not in accepted(world, client)]
    return f"cannot verify tokens of {signing}: {blind}" if blind else None


def tokens_run_out(world: View) -> str | None:
    """A key is withdrawn after the last token that it signed."""
    lifetime = world.one(Lifetime)
    gone = [key.id for key in world.all(Key) if key.state is KeyState.WITHDRAWN]
    if gone and elapsed(world) < lifetime.signed_until + lifetime.token:
        return f"withdrawn while its tokens are valid: {gone}"
    return None


def rotate(
    me: Worker, *, log: bool = True, ahead: bool = True, pins: bool = True, expire: bool = True
) -> None:
    """`log` looks who really verifies, `ahead` waits until all have the key, `expire` for the last token."""
    old = me.ask(list_keys)[0].id
    known = me.ask(list_registered)
    me.do(publish_key)
    users = [client.id for client in known]
    updated = list[str]()
    if log:
        seen = me.ask(list_access_log)
        users = [use.id for use in seen]
        updated = [use.id for use in seen if use.pins]
    for client in updated if pins else ():
        me.do(update_pin, client=client)
    if ahead:
        _pick_up(me, [client.refresh for client in known], log=log and pins)
    me.do(sign_with, key=NEW)
    lifetime = me.ask(read_lifetime)
    if expire:
        me.do(wait, minutes=lifetime.token)
    me.do(withdraw, key=old)
    me.submit(Answer(users, updated))


def _pick_up(me: Worker, refreshes: Sequence[int], *, log: bool) -> None:
    """Wait as long as the slowest client takes; with `log`, until the log shows that all have the key."""
    me.do(wait, minutes=max(refreshes))
    for _ in range(8):
        if not log or all(NEW in use.accepts for use in me.ask(list_access_log)):
            return
        me.do(wait, minutes=30)
    raise Stuck("somebody never picks up the new key")


def plan(me: Worker) -> None:
    rotate(me, log=me.habits.verify, ahead=me.habits.foresight)


def generate(rng: Random) -> Setup:
    """One client is in no registry and fetches more slowly than all others, one pins its key."""
    names = rng.sample(["portal", "billing", "mobile", "reports", "archive", "kiosk", "partner"], 5)
    clients = [Client(name, rng.choice([15, 30, 45, 60]), True, False, "none") for name in names]
    clients[3] = replace(clients[3], registered=False, refresh=rng.choice([100, 110, 120]))
    clients[4] = replace(clients[4], registered=rng.random() < 0.5, pins=True, pinned="key-old")
    token = rng.choice([60, 90, 120])
    return Setup(
        now=SHIFT,
        rows=(Key("key-old", KeyState.SIGNING, -600), *clients, Lifetime("tokens", token, 0)),
        facts={},
        expected=Expected(
            required=(
                became(Key, "key-old", state=KeyState.WITHDRAWN),
                made(Key, id=NEW, state=KeyState.SIGNING),
                became(Client, clients[4].id, pinned=NEW),
            ),
            allowed=(may(Lifetime),),
            answer=handed_in(Answer(sorted(names), [clients[4].id])),
        ),
    )


SCENARIO = Scenario(
    rules=Rules(
        name="technology/key_rotation",
        tables=(Key, Client, Lifetime),
        reads=(list_registered, list_access_log, list_keys, read_lifetime, read_clock),
        writes=(publish_key, update_pin, sign_with, withdraw, wait),
        answer=Answer,
    ),
    title="Rotation of a signing key",
    industry=Industry.TECHNOLOGY,
    subdomain="Cybersecurity & Forensics",
    soc="15-1212.00",
    difficulty=3,
    trap=(
        "The registry does not know every client; the log does, and shows who has not picked up the new key."
    ),
    brief="""
        Replace the signing key. Publish the new one, and let it sign only when every client that verifies
        tokens accepts it: at no moment may a client be unable to verify what is signed. A client that pins
        its key must be updated by hand; the others fetch keys by themselves. Withdraw the old key once the
        last token that it signed has run out. Then submit all clients that verify with the new key and
        which were updated by hand.
    """,
    generate=generate,
    plan=plan,
    always=(everyone_verifies, tokens_run_out),
    evidence=(looked("log_read", list_access_log, before=sign_with, since=(publish_key, update_pin)),),
    near_misses=(
        NearMiss("asks the registry only", "always/everyone_verifies", partial(rotate, log=False)),
        NearMiss("signs at once", "always/everyone_verifies", partial(rotate, ahead=False)),
        NearMiss("forgets the pinned key", "always/everyone_verifies", partial(rotate, pins=False)),
        NearMiss("withdraws too early", "always/tokens_run_out", partial(rotate, expire=False)),
    ),
)
