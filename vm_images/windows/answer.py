"""The answer file of Windows Setup (`autounattend.xml`).

Element names and passes: Microsoft, "Unattended Windows Setup Reference". What is written here is checked
against `unattend.xsd` beside this file, which states that reference for the elements we use.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from lxml import etree

from practicum.vm_images.windows.setup import DRIVERS, Setup

SCHEMA = Path(__file__).with_name("unattend.xsd")
NAMESPACE = "urn:schemas-microsoft-com:unattend"
_WCM = "http://schemas.microsoft.com/WMIConfig/2002/State"
_COMPONENT = {
    "processorArchitecture": "amd64",
    "publicKeyToken": "31bf3856ad364e35",
    "language": "neutral",
    "versionScope": "nonSxS",
}
_DRIVER_LETTERS = ("D", "E", "F", "G")
"""Windows Setup gives optical drives letters in an order of its own."""
_UNCHECKED = tuple(f"Bypass{what}Check" for what in ("TPM", "SecureBoot", "RAM", "CPU", "Storage"))
_SETTLE = (
    "cmd.exe /c for %d in (D E F G H) do @if exist %d:\\settle.ps1 "
    "powershell.exe -NoProfile -ExecutionPolicy Bypass -File %d:\\settle.ps1"
)
"""The letter of our own medium is not known before it is looked for."""


class NotValid(Exception):
    """An answer file that Windows Setup would refuse."""


def write(setup: Setup) -> bytes:
    """The answer file. Raises `NotValid` with the element that is wrong."""
    root = etree.Element(f"{{{NAMESPACE}}}unattend", nsmap={None: NAMESPACE, "wcm": _WCM})  # type: ignore[dict-item]  # the stubs know no default namespace
    _windows_pe(root, setup)
    _specialize(root, setup)
    _welcome(root, setup)
    document = etree.tostring(root, xml_declaration=True, encoding="utf-8", pretty_print=True)
    check(document)
    return bytes(document)


def check(document: bytes) -> None:
    """Raises `NotValid`."""
    schema = etree.XMLSchema(etree.parse(str(SCHEMA)))
    try:
        schema.assertValid(etree.fromstring(document))
    except (etree.DocumentInvalid, etree.XMLSyntaxError) as error:
        raise NotValid(str(error)) from error


def driver_paths(setup: Setup) -> list[str]:
    """Where Setup looks for drivers, in this order, on each letter that the driver medium may have."""
    folders = [rf"{name}\{setup.release.value}\amd64" for name in DRIVERS]
    return [rf"{letter}:\{folder}" for folder in folders for letter in _DRIVER_LETTERS]


def _windows_pe(root: etree._Element, setup: Setup) -> None:
    settings = _pass(root, "windowsPE")
    language = _component(settings, "Microsoft-Windows-International-Core-WinPE")
    _add(_node(language, "SetupUILanguage"), "UILanguage", setup.language)
    _locale(language, setup)
    paths = _node(_component(settings, "Microsoft-Windows-PnpCustomizationsWinPE"), "DriverPaths")
    for number, path in enumerate(driver_paths(setup), start=1):
        entry = _item(paths, "PathAndCredentials")
        entry.set(f"{{{_WCM}}}keyValue", str(number))
        _add(entry, "Path", path)
    install = _component(settings, "Microsoft-Windows-Setup")
    key = r"HKLM\SYSTEM\Setup\LabConfig"
    _commands(install, (rf"reg.exe add {key} /v {name} /t REG_DWORD /d 1 /f" for name in _UNCHECKED))
    _disk(install)
    _image(install, setup)
    data = _node(install, "UserData")
    if setup.product_key:
        _add(_node(data, "ProductKey"), "Key", setup.product_key)
    _add(data, "AcceptEula", "true")


def _disk(install: etree._Element) -> None:
    """One disk, wiped: a system partition for UEFI, the reserved one, and Windows on the rest."""
    configuration = _node(install, "DiskConfiguration")
    disk = _item(configuration, "Disk")
    _add(disk, "DiskID", "0")
    _add(disk, "WillWipeDisk", "true")
    created = _node(disk, "CreatePartitions")
    for order, (kind, size) in enumerate((("EFI", 260), ("MSR", 16), ("Primary", 0)), start=1):
        partition = _item(created, "CreatePartition")
        _add(partition, "Order", str(order))
        _add(partition, "Type", kind)
        _add(partition, *(("Size", str(size)) if size else ("Extend", "true")))
    modified = _node(disk, "ModifyPartitions")
    for order, (number, form, label) in enumerate(((1, "FAT32", "System"), (3, "NTFS", "Windows")), start=1):
        partition = _item(modified, "ModifyPartition")
        _add(partition, "Order", str(order))
        _add(partition, "PartitionID", str(number))
        _add(partition, "Format", form)
        _add(partition, "Label", label)


def _image(install: etree._Element, setup: Setup) -> None:
    image = _node(_node(install, "ImageInstall"), "OSImage")
    metadata = _item(_node(image, "InstallFrom"), "MetaData")
    _add(metadata, "Key", "/IMAGE/NAME")
    _add(metadata, "Value", setup.edition)
    target = _node(image, "InstallTo")
    _add(target, "DiskID", "0")
    _add(target, "PartitionID", "3")


def _specialize(root: etree._Element, setup: Setup) -> None:
    settings = _pass(root, "specialize")
    shell = _component(settings, "Microsoft-Windows-Shell-Setup")
    _add(shell, "ComputerName", setup.computer)
    _add(shell, "TimeZone", setup.timezone)
    _commands(_component(settings, "Microsoft-Windows-Deployment"), [_SETTLE])


def _welcome(root: etree._Element, setup: Setup) -> None:
    settings = _pass(root, "oobeSystem")
    _locale(_component(settings, "Microsoft-Windows-International-Core"), setup)
    shell = _component(settings, "Microsoft-Windows-Shell-Setup")
    logon = _node(shell, "AutoLogon")
    _password(logon, setup)
    _add(logon, "Enabled", "true")
    _add(logon, "LogonCount", "9999999")
    _add(logon, "Username", setup.account)
    welcome = _node(shell, "OOBE")
    _add(welcome, "HideEULAPage", "true")
    _add(welcome, "HideOnlineAccountScreens", "true")
    _add(welcome, "HideWirelessSetupInOOBE", "true")
    _add(welcome, "ProtectYourPC", "3")
    account = _item(_node(_node(shell, "UserAccounts"), "LocalAccounts"), "LocalAccount")
    _password(account, setup)
    _add(account, "DisplayName", setup.account)
    _add(account, "Group", "Users")
    _add(account, "Name", setup.account)


def _locale(parent: etree._Element, setup: Setup) -> None:
    _add(parent, "InputLocale", setup.keyboard)
    for name in ("SystemLocale", "UILanguage", "UserLocale"):
        _add(parent, name, setup.language)


def _password(parent: etree._Element, setup: Setup) -> None:
    password = _node(parent, "Password")
    _add(password, "Value", setup.password)
    _add(password, "PlainText", "true")


def _commands(parent: etree._Element, commands: Iterable[str]) -> None:
    run = _node(parent, "RunSynchronous")
    for order, line in enumerate(commands, start=1):
        entry = _item(run, "RunSynchronousCommand")
        _add(entry, "Order", str(order))
        _add(entry, "Path", line)


def _pass(root: etree._Element, name: str) -> etree._Element:
    settings = _node(root, "settings")
    settings.set("pass", name)
    return settings


def _component(settings: etree._Element, name: str) -> etree._Element:
    component = _node(settings, "component")
    component.set("name", name)
    for key, value in _COMPONENT.items():
        component.set(key, value)
    return component


def _item(parent: etree._Element, name: str) -> etree._Element:
    """An entry of a list, which Setup is told to add."""
    entry = _node(parent, name)
    entry.set(f"{{{_WCM}}}action", "add")
    return entry


def _node(parent: etree._Element, name: str) -> etree._Element:
    return etree.SubElement(parent, f"{{{NAMESPACE}}}{name}")


def _add(parent: etree._Element, name: str, text: str) -> None:
    _node(parent, name).text = text
