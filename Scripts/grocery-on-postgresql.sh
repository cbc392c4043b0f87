#!/usr/bin/env bash
# Runs Grocery Dude on a PostgreSQL server in a temporary folder: its own check twice, the second time with the store of the first;
# then a browser's requests, of which what was answered is there after the app was killed.
# Arguments: what swift build is told.
set -euo pipefail
cd "$(dirname "$0")/.."

programs=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -n 1 || true)
[ -n "$programs" ] || programs=$(dirname "$(command -v initdb || true)")
if [ ! -x "$programs/initdb" ] || ! command -v curl >/dev/null; then
    echo "No server, or no curl, is installed (Debian: apt-get install postgresql curl): nothing was tried."
    exit 0
fi

"${SWIFT:-swift}" build "$@" --traits PostgreSQL --package-path Examples --product GroceryDude
app=$("${SWIFT:-swift}" build "$@" --traits PostgreSQL --package-path Examples --show-bin-path)/GroceryDude

folder=$(mktemp -d)
running=
as_server() { if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
finish() {
    [ -z "$running" ] || kill -9 "$running" 2>/dev/null || true
    as_server "$programs/pg_ctl" -D "$folder/data" -m immediate -s stop || true
    rm -rf "$folder"
}
[ "$(id -u)" -ne 0 ] || chown postgres "$folder"
chmod 755 "$folder"
as_server "$programs/initdb" -D "$folder/data" -U store -A trust -E UTF8 --no-sync >/dev/null
trap finish EXIT
as_server "$programs/pg_ctl" -D "$folder/data" -l "$folder/log" -w -s \
    -o "-c listen_addresses= -c unix_socket_directories=$folder -c fsync=off" start

store="postgresql://store:hushed@/postgres?host=$folder&schema=groceries"
server() { "$programs/psql" -h "$folder" -U store -d postgres -Atc "$1"; }
fail() { echo "error: $*" >&2; exit 1; }

for run in first second; do "$app" --check --store "$store"; done
count=$(server 'SELECT COUNT(*) FROM groceries."Item"')
echo "The store on the server has $count items"
[ "$count" -gt 0 ]

# Starts the app, and says where it is.
address=
start() {
    # The shell may open the file only after the loop has read what the run before wrote.
    : >"$folder.app"
    "$app" --store "$store" --port 0 >"$folder.app" 2>&1 &
    running=$!
    for _ in $(seq 150); do
        address=$(sed -n 's/.* is at \(http[^ ]*\)\/$/\1/p' "$folder.app")
        [ -z "$address" ] || return 0
        sleep 0.2
    done
    fail "the app did not start: $(cat "$folder.app")"
}
# Asks for a page as a browser does.
page() { curl -s -b "$folder.jar" -c "$folder.jar" "$@"; }
# Sends a form of a page, with what that has to come back with it.
post() {
    local from=$1 to=$2 token
    shift 2
    # Not through a pipe: who has found what he looks for would close it before curl has written all.
    page "$address$from" >"$folder.form"
    token=$(sed -n '/name=token/{s/.*name=token value="\([^"]*\)".*/\1/p;q}' "$folder.form")
    page -L -H "Origin: $address" --data-urlencode "token=$token" "$@" "$address$to"
}

start
! grep -q hushed "$folder.app" || fail "the app shows the password"
post /items/new /items --data-urlencode "name=Mangosteen" -d quantity=3 -d listed=1 >"$folder.page"
post /backups /backups >"$folder.page"
grep -q "on a server" "$folder.page" || fail "the page of backups does not say that the server's are"
kill -9 "$running"
wait "$running" 2>/dev/null || true
start
page "$address/prepare" >"$folder.page"
grep -q Mangosteen "$folder.page" || fail "what was answered is gone after the app was killed"
[ "$(server "SELECT quantity FROM groceries.\"Item\" WHERE name = 'Mangosteen'")" = 3 ] || fail "the row is another"
kill -INT "$running"
wait "$running" || fail "the app does not end well"
running=
rm -f "$folder.app" "$folder.jar" "$folder.form" "$folder.page"
echo "What a browser added was there after the app was killed"
