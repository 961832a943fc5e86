"""The course in two commands; they need nothing but CPython 3.11, 3.12 or 3.13.

    python3 course.py lab          open the course in JupyterLab (extra words go to JupyterLab)
    python3 course.py test         run the tests, two at a time (extra words go to pytest;
                                   `test notebooks` runs only the notebooks, `test --lax` runs
                                   them without comparing their outputs with the stored ones,
                                   `test --all` also runs the long tests)

    python3 course.py setup        only create the environment in .venv, or repair it
    python3 course.py reset 03     put a fresh copy of notebook 03 into work/ and keep your copy
                                   (`--solved-to 3` solves its first three exercises, to catch up)
    python3 course.py workshop day plan a half-day, day or two-days; numbers choose chapters
    python3 course.py handout 03   put notebook 03 without solutions into handouts/ (or `--to DIR`)
    python3 course.py slides 03    write its slides to slides/ (a browser shows them offline)
    python3 course.py book         write the course to site/ as web pages that need no Python
    python3 course.py check        try what is installed and list what is missing, one line each

For maintainers, in a clone of the repository:

    python3 course.py bench        compare ratios of times with their goals; extra words choose some
    python3 course.py remake 03    run notebook 03 again and store what it shows, and print what
                                   changed, what is broken, what is left (`all`: every notebook)

Packages are installed with uv, which is installed first, or with pip where uv does not work. Set
COURSE_INSTALLER=pip in the environment to use pip alone. Both follow pip's settings (pip.conf,
PIP_INDEX_URL and so on).
"""
# Python 2.7 reads this file, too, to say that it is too old. helpers/course/ does the work.

import os
import sys

if sys.version_info < (3, 11):
    sys.stderr.write(
        "course.py: Python %d.%d is too old: the course works with CPython 3.11, 3.12 or 3.13; "
        "start it with one of them, as in `python3.11 course.py`.\n" % tuple(sys.version_info[:2])
    )
    sys.exit(2)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from helpers.course.commands import main  # noqa: E402

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], __doc__))
