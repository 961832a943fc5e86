"""Make or update the environment .venv: build a new one beside it, try it, and rename it.

    .venv           the environment that works; nothing writes into it
    .vnew           the next one while it is built; if a start is interrupted, the next one goes on
    .course-trash   old environments: moved here by a rename, then removed

A *stamp*, a file in each environment, says whether it is finished. So .venv is always complete or
missing, and an interrupted start loses only its last step.
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
    """Make .venv, or update it to what the requirements ask for.

    If an update fails, and the present .venv works, the course goes on with that.

    Parameters
    ----------
    repair : bool
        Also try each package of a .venv that is up to date, and make .venv again if one is broken.

    Raises
    ------
    CommandRefused
        There is no environment that works, and none could be made. One sentence says why.
    """
    wanted_installer()  # raises CommandRefused for a wrong setting, before anything is done
    if stamp.is_current(checkout.VENV) and not repair:
        return
    with stopping_signals(), installing_alone() as lock:
        # Another start may have made .venv while this one waited for the lock.
        if not needs_install(repair):
            return
        for folder in (checkout.VENV, checkout.NEW):
            stamp.refuse_unmade(folder)
        if checkout.VENV.is_dir():  # the trash may have files of the learner, which go to .venv
            trash.empty_trash()
        try:
            if not stamp.is_current(checkout.NEW):
                build(lock)
            swap()
        except (CommandRefused, OSError) as error:
            reason = explain_os_error(error) if isinstance(error, OSError) else str(error)
            if reason == DISK_FULL:  # free the room that the unfinished environment takes
                trash.discard(checkout.NEW)
            if repair or not stamp.still_works(checkout.VENV):
                raise
            say(f"The packages were not updated. {reason}")
            say("Until then the course runs with the packages that it had.")
            return
        trash.empty_trash()
        say("[3/3] Ready")


def needs_install(repair: bool) -> bool:
    """Return whether .venv has to be made: it is not up to date, or a repair finds it broken."""
    if not stamp.is_current(checkout.VENV):
        return True
    return repair and installed_packages.is_broken(checkout.VENV)


def build(lock: int | None) -> None:
    """Build the next environment in .vnew and try it; go on where a start was interrupted.

    Parameters
    ----------
    lock : int or None
        The file descriptor of the lock on installs, which the installer inherits.

    Raises
    ------
    CommandRefused
        One sentence that says why it could not be built.
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
    learners_packages = installed_packages.learners_packages(installer.python)
    installed_packages.remember_installed(checkout.NEW, learners_packages)
    installed_packages.keep_packages(installer, learners_packages)
    # The paths in its programs are those of .venv from now on, its name after `swap`.
    virtual_environment.name_final_place(checkout.NEW)
    # With this stamp the environment is finished.
    version = checkout.version_of([installer.python])
    stamp.write_stamp(checkout.NEW, stamp.fingerprint(version))


def swap() -> None:
    """Replace .venv by .vnew.

    If this is interrupted between the two renames, there is a finished .vnew and no .venv. The next
    start goes on with that.
    """
    if os.path.lexists(checkout.VENV):
        trash.move_to_trash(checkout.VENV)
    os.rename(checkout.NEW, checkout.VENV)
