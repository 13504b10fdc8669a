// The token travels in the fragment, which browsers never send; it is handed over once, by POST.
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname);
const answer = await fetch("/enter", { method: "POST", body: new URLSearchParams({ token }) });
if (answer.ok) location.replace("/");
else document.getElementById("say").textContent = await answer.text();
