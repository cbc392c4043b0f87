#!/usr/bin/env bash
# Builds a grocery store from XML, puts part of it on the shopping list, prints the list by aisle and what the store is.
# Usage: run.sh [FOLDER]     COREDATA names the tool; default: coredata in PATH.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
coredata=${COREDATA:-coredata}
folder=${1:-$(mktemp -d)}
store=$folder/Groceries.sqlite

mkdir -p "$folder"
rm -f "$store" "$store-wal" "$store-shm"

echo "== Make the store"
"$coredata" store create "$store" --model "$here/Model.xcdatamodeld"

echo
echo "== Import what there is to buy"
# What is not said here, the tool knows: 'name' is Item.name, and the store keeps its model.
"$coredata" import "$store" --entity Item "$here/../GroceryDude/Sources/GroceryDude/Assets/DefaultData.xml" \
    --unique Item.name --unique Unit.name --unique LocationAtHome.storedIn --unique LocationAtShop.aisle \
    --map unit=unit.name --map locationathome=locationAtHome.storedIn --map locationatshop=locationAtShop.aisle

echo
echo "== Put part of it on the list"
"$coredata" import "$store" --entity Item --unique Item.name "$here/ShoppingList.csv"

echo
echo "== The shopping list"
"$coredata" query "$store" Item --where 'listed == YES' --group locationAtShop.aisle --sort name \
    --select name,quantity,unit.name,locationAtHome.storedIn

echo
echo "== The store"
"$coredata" store info "$store"

echo
"$coredata" store verify "$store"
