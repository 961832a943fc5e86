"""The life of .venv: it is made beside the old one, tried, and swapped in by a rename.

    .venv           the environment that works; nothing writes into it
    .vnew           the next one while it is made; an interrupted start leaves it, the next goes on
    .course-trash   what is on its way out: moved here by a rename, then removed

An environment says in its stamp what it is. So at every moment .venv is whole or not there, and an
interrupted start costs nothing but its last step.
"""

import os

from helpers.course import checkout, installed_packages, stamp, trash, virtual_environment
from helpers.course.disk_space import refuse_full_disk
from helpers.course.install_lock import installing_alone
from helpers.course.installing import Installer, wanted_installer
from helpers.course.terminal import (
    DISK_FULL,
    CommandRefused,
    explain_os_error,
    say,
    stopping_signals,
)


def set_up(repair: bool = False) -> None:
    """Make .venv what the requirements ask for, or go on with the one that works.

    Parameters
    ----------
    repair : bool
        Try each package of a .venv that is up to date, and make it anew if one is broken.

    Raises
    ------
    CommandRefused
        There is no environment that works, and none could be made. One sentence says why.
    """
    wanted_installer()  # refuses a wrong setting before anything is done
    if stamp.is_current(checkout.VENV) and not repair:
        return
    with stopping_signals(), installing_alone() as lock:
        if not needs_install(repair):  # another start may have done it while this one waited
            return
        for folder in (checkout.VENV, checkout.NEW):
            stamp.refuse_unmade(folder)
        if checkout.VENV.is_dir():  # else the learner's files in the trash have no place to go to
            trash.empty_trash()
        try:
            if not stamp.is_current(checkout.NEW):
                build(lock)
            swap()
        except (CommandRefused, OSError) as error:
            reason = explain_os_error(error) if isinstance(error, OSError) else str(error)
            if reason == DISK_FULL:  # what was installed so far gives its room back
                trash.discard(checkout.NEW)
            if repair or not stamp.still_works(checkout.VENV):
                raise
            say(f"The packages were not updated. {reason}")
            say("Until then the course runs with the packages that it had.")
            return
        trash.empty_trash()
        say("[3/3] Ready")


def needs_install(repair: bool) -> bool:
    """Return whether .venv has to be made: it is not up to date, or broken and to be repaired."""
    if not stamp.is_current(checkout.VENV):
        return True
    return repair and installed_packages.is_broken(checkout.VENV)


def build(lock: int | None) -> None:
    """Make .vnew, from nothing or from where the last start was interrupted, and try it.

    Parameters
    ----------
    lock : int or None
        The file descriptor of the lock on installs, which the installer inherits.

    Raises
    ------
    CommandRefused
        One sentence that says why it could not be made.
    """
    refuse_full_disk()
    python = virtual_environment.base_python()
    installer = Installer(checkout.NEW, lock)
    if virtual_environment.can_go_on(checkout.NEW, python):
        say("[1/3] Environment: going on where the last start stopped")
        installed_packages.forget_incomplete(checkout.NEW)
    else:
        trash.discard(checkout.NEW)
        virtual_environment.make_venv(checkout.NEW, python)
        version = checkout.version_of([python])
        say(f"[1/3] Environment: Python {checkout.dotted(version)}")
    say("[2/3] Installing packages: the first time, a gigabyte is downloaded")
    installer.install("-r", "requirements.txt", "-c", "constraints.txt")
    installed_packages.repair_packages(installer)
    theirs = installed_packages.learners_packages(installer.python)
    installed_packages.remember_installed(checkout.NEW, theirs)
    installed_packages.keep_packages(installer, theirs)
    virtual_environment.name_final_place(checkout.NEW)
    version = checkout.version_of([installer.python])
    stamp.write_stamp(checkout.NEW, stamp.fingerprint(version))


def swap() -> None:
    """Put .vnew in the place of .venv. Interrupted between both renames, the next start goes on."""
    if os.path.lexists(checkout.VENV):
        trash.move_to_trash(checkout.VENV)
    os.rename(checkout.NEW, checkout.VENV)
