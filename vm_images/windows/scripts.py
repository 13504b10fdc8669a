"""What runs inside during installation: once as the system, and once more at the first start.

Each step says its stage on the first serial port, where the builder reads it; so does a step that fails.
"""

from __future__ import annotations

from collections.abc import Iterator

from practicum.vm_images.windows.powershell import command_line, quote, script_file
from practicum.vm_images.windows.setup import DRIVERS, Setup

FOLDER = r"C:\desk"
SETTLE, INSTALL = "settle.ps1", "install.ps1"

_SAY = (
    "function Say($text) {",
    "  $port = New-Object IO.Ports.SerialPort 'COM1', 115200",
    "  $port.Open(); $port.WriteLine('desk: ' + $text); $port.Close()",
    "}",
)
_HEAD = (
    "$ErrorActionPreference = 'Stop'",
    *_SAY,
    "trap { Say ('failed: ' + $_ + ' at ' + $_.InvocationInfo.PositionMessage); exit 1 }",
)
_RUN = (
    "function Run($file, $words) {",
    "  $options = @{ FilePath = $file; Wait = $true; PassThru = $true; WindowStyle = 'Hidden' }",
    "  if ($words) { $options.ArgumentList = $words }",
    "  $code = (Start-Process @options).ExitCode",
    "  if ($code -notin 0, 3010) { throw ($file + ' ended with ' + $code) }",  # 3010: a restart is wanted
    "}",
)
_POLICIES = (
    (r"SOFTWARE\Policies\Microsoft\Windows\WindowsUpdate\AU", "NoAutoUpdate", 1),
    (r"SOFTWARE\Policies\Microsoft\Windows\Personalization", "NoLockScreen", 1),
    (r"SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System", "DisableLockWorkstation", 1),
    (r"SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\System", "InactivityTimeoutSecs", 0),
    (r"SOFTWARE\Policies\Microsoft\Windows\CloudContent", "DisableWindowsConsumerFeatures", 1),
    (r"SOFTWARE\Policies\Microsoft\Windows\OOBE", "DisablePrivacyExperience", 1),
)
_POWER = ("monitor-timeout-ac", "standby-timeout-ac", "hibernate-timeout-ac", "disk-timeout-ac")


def settle(setup: Setup) -> bytes:
    """As the system, before anybody has logged on: drivers, guest agent, settings, and the next script."""
    return script_file((*_HEAD, *_RUN, *_settle_steps(setup)))


def install(setup: Setup) -> bytes:
    """As the system, at the first start: the declared programs; then the desk is ready."""
    return script_file((*_HEAD, *_RUN, *_install_steps(setup)))


def _settle_steps(setup: Setup) -> Iterator[str]:
    yield "Say 'settling'"
    yield f"New-Item -ItemType Directory -Force {quote(FOLDER)} | Out-Null"
    yield f"Copy-Item -Recurse -Force (Join-Path $PSScriptRoot '*') {quote(FOLDER)}"
    yield "$media = Get-PSDrive -PSProvider FileSystem | ForEach-Object Root"
    for name in DRIVERS:
        yield f"foreach ($root in $media) {{ $folder = Join-Path $root {quote(_driver(setup, name))}"
        yield "  if (Test-Path $folder) {"
        yield "    Run 'pnputil.exe' ('/add-driver \"' + $folder + '\\*.inf\" /install') } }"
    yield "Say 'drivers'"
    yield r"$agent = $media | ForEach-Object { Join-Path $_ 'guest-agent\qemu-ga-x86_64.msi' }"
    yield "$agent = $agent | Where-Object { Test-Path $_ }"
    yield "Run 'msiexec.exe' ('/i \"' + @($agent)[0] + '\" /qn /norestart')"
    yield "Say 'agent'"
    for key, name, value in _POLICIES:
        yield _ensure(key)
        yield f"Set-ItemProperty -Path {quote(_hive(key))} -Name {quote(name)} -Type DWord -Value {value}"
    for setting in _POWER:
        yield f"Run 'powercfg.exe' {quote(f'/change {setting} 0')}"
    yield "Run 'sc.exe' 'config wuauserv start= disabled'"
    yield from _display(setup)
    yield from _next(setup)
    yield "Say 'settled'"


def _display(setup: Setup) -> Iterator[str]:
    """No scaling but the one asked for: coordinates of a task are pixels. The size is the machine's own."""
    default = r"Registry::HKEY_USERS\.DEFAULT\Control Panel\Desktop"
    for name, value in (("LogPixels", 96 * setup.scale // 100), ("Win8DpiScaling", int(setup.scale != 100))):
        yield f"Set-ItemProperty -Path {quote(default)} -Name {quote(name)} -Type DWord -Value {value}"


def _next(setup: Setup) -> Iterator[str]:
    words = ["-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-File", rf"{FOLDER}\{INSTALL}"]
    action = f"New-ScheduledTaskAction -Execute 'powershell.exe' -Argument {quote(command_line(words))}"
    logon = f"New-ScheduledTaskTrigger -AtLogOn -User {quote(setup.account)}"
    yield f"$action = {action}"
    yield f"$logon = {logon}"
    yield "Register-ScheduledTask -TaskName 'desk' -User 'SYSTEM' -Action $action -Trigger $logon | Out-Null"


def _install_steps(setup: Setup) -> Iterator[str]:
    yield "Say 'installing'"
    for number, program in enumerate(setup.programs):
        file = rf"{FOLDER}\programs\{number:02}\{program.file.name}"
        words = command_line(program.arguments)
        if program.file.suffix.lower() == ".msi":
            words = command_line(("/i", file, "/qn", "/norestart", *program.arguments))
            file = "msiexec.exe"
        yield f"Run {quote(file)} {quote(words)}"
        yield f"Say {quote(f'program {program.file.name}')}"
    yield "Unregister-ScheduledTask -TaskName 'desk' -Confirm:$false"
    yield "Say 'ready'"
    yield "Stop-Computer -Force"


def _driver(setup: Setup, name: str) -> str:
    return rf"{name}\{setup.release.value}\amd64"


def _hive(key: str) -> str:
    return rf"HKLM:\{key}"


def _ensure(key: str) -> str:
    """A registry key is made with its parents; making one that is there would empty it."""
    path = quote(_hive(key))
    return f"if (-not (Test-Path {path})) {{ New-Item -Force -Path {path} | Out-Null }}"
