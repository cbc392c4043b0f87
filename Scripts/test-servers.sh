#!/usr/bin/env bash
# Installs the servers that tests of synchronisation and backups start, where it can: wsgidav (WebDAV) and moto (S3), and schemathesis, which
# tests the service's OpenAPI document: packages of PyPI, into .build/test-servers. Tests that miss them are skipped with a message, and fail where CI is set.
set -uo pipefail
cd "$(dirname "$0")/.."

target=$PWD/.build/test-servers
export PYTHONPATH="$target${PYTHONPATH:+:$PYTHONPATH}"
has() { command -v python3 >/dev/null 2>&1 && python3 -c 'import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))' "$@"; }

wanted=()
has wsgidav cheroot || wanted+=('wsgidav>=4.3,<5' 'cheroot>=10')
# The extra "server" of moto is for services other than S3, and takes eight times as long to install.
has moto flask flask_cors werkzeug || wanted+=('moto[s3]>=5.1,<6' 'flask>=3' 'flask-cors>=5')
has schemathesis || wanted+=('schemathesis>=4.32,<5')
[ ${#wanted[@]} -eq 0 ] && exit 0

# No program has the package's name, so the script installs it.
python3 -m pip --version >/dev/null 2>&1 || Scripts/dependencies.sh python3-pip
echo "Installing ${wanted[*]} …"
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --target "$target" "${wanted[@]}" ||
    echo "note: ${wanted[*]} could not be installed; tests against them are skipped"
exit 0
