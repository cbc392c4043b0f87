import CoreDataPrimitives

// Plans new rows whose values go to existing rows with their unique values.
extension SavePlanner {
    /// Adds the insertions. Rows that must be new come first: a violation ends the save before another row is absorbed.
    ///
    /// If new rows have equal unique values, none may be absorbed, so that the conflict is detected.
    func addInsertions(of changes: ChangeSet, to plan: inout SavePlan) throws {
        let (rows, absorptions) = (changes.insertions, changes.absorptions)
        let places = rows.indices.filter { absorptions[$0] != nil }
        guard try areDistinct(rows, ofEntities: Set(places.map { rows[$0].row.entity })) else {
            plan.insertions = try insertions(rows)
            return
        }
        plan.insertions = try insertions(rows.indices.filter { absorptions[$0] == nil }.map { rows[$0] })
        // Usually a list contains all of them and is not copied.
        func rowsAt(_ places: [Int]) -> [ChangeSet.Insertion] {
            places.count == rows.count ? rows : places.map { rows[$0] }
        }
        plan.absorptions = try grouped(
            places, by: { rows[$0].row.entity },
            { entity, places in
                let table = try tables.table(of: entity)
                let absorbing = grouped(
                    places, by: { absorptions[$0] ?? IndexMask() },
                    { absorption(into: table, $0, rowsAt($1)) })
                return SavePlan.Absorptions(
                    absorbing: absorbing, plain: insertion(into: table, rowsAt(places)), places: places,
                    arrivals: tables.versions(in: table))
            })
    }

    private func absorption(
        into table: SaveTables.Table, _ columns: IndexMask, _ rows: [ChangeSet.Insertion]
    ) -> SavePlan.Insertions {
        SavePlan.Insertions(
            several: several(of: rows.count, values: 3 + table.columns.count) {
                tables.absorption(into: table, columns, rows: $0)
            }, single: tables.absorption(into: table, columns, rows: 1), table: table, rows: rows)
    }

    /// Returns whether no two new rows have the same unique values; a hash collision also gives false.
    private func areDistinct(_ rows: [ChangeSet.Insertion], ofEntities entities: Set<Int>) throws -> Bool {
        var seen: Set<Int> = []
        seen.reserveCapacity(rows.count)
        for entity in entities {
            let table = try tables.table(of: entity)
            let columns = table.constraints[0].columns
            for index in rows.indices where rows[index].row.entity == entity {
                var hasher = Hasher()
                hasher.combine(entity)
                let isComplete = rows[index].row.withView { row in
                    columns.allSatisfy { row.hash($0, table.kinds[$0], into: &hasher) }
                }
                guard !isComplete || seen.insert(hasher.finalize()).inserted else { return false }
            }
        }
        return true
    }
}

extension RowView {
    /// Hashes a value; returns whether there is one.
    fileprivate func hash(_ column: Int, _ kind: ColumnKind, into hasher: inout Hasher) -> Bool {
        guard !isNull(column) else { return false }
        switch kind {
        case .integer, .real: hasher.combine(integer(column))
        case .text, .blob: hasher.combine(bytes: bytes(column))
        }
        return true
    }
}
