#!/usr/bin/env bash
# Installs what the tests of the web apps use beside Swift, where it can: a browser with its driver, a program that makes small
# pictures, and axe-core, which a package of PyPI brings. Tests that miss something are skipped with a message.
set -uo pipefail
cd "$(dirname "$0")/.."

missing=()
has() { command -v "$1" >/dev/null 2>&1; }
has chromium || has chromium-browser || has google-chrome || missing+=(chromium)
has chromedriver || missing+=(chromium-driver)
has vipsthumbnail || has magick || missing+=(libvips-tools)
has python3 || missing+=(python3)
has pip3 || has pip || missing+=(python3-pip)
if [ ${#missing[@]} -gt 0 ]; then
    root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo -n)
    if has apt-get && { [ "$(id -u)" -eq 0 ] || sudo -n true 2>/dev/null; }; then
        echo "Installing ${missing[*]} …"
        "${root[@]}" apt-get update -qq &&
            "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
                "${missing[@]}" fonts-dejavu-core >/dev/null || echo "note: ${missing[*]} could not be installed"
    else
        echo "note: for all tests install ${missing[*]}"
    fi
fi

axe=Examples/.build/axe
if [ -z "$(find "$axe" -name axe.min.js 2>/dev/null)" ]; then
    # Only the script is used, none of the package's code.
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --target "$axe" \
        axe-playwright-python || echo "note: axe-core could not be installed"
fi
exit 0
