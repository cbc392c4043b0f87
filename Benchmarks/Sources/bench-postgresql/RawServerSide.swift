#if PostgreSQL
    import Foundation
    import Measuring
    import RawPostgreSQL
    import RawSQLite
    import Sides

    /// Plain calls of libpq.
    final class RawServerSide {
        private let session: OpaquePointer
        private let rows: Int

        init(folder: String, schema: String, rows: Int) throws {
            var session: OpaquePointer?
            let code = pq_open(folder, "store", schema, &session)
            guard let session else { throw MeasuringFailure("There is no memory for a connection.") }
            (self.session, self.rows) = (session, rows)
            try check(code)
        }

        deinit { pq_close(session) }

        private func check(_ code: Int32) throws {
            guard code == 0 else {
                throw MeasuringFailure("libpq did not do what it was to do. \(String(cString: pq_message(session)))")
            }
        }

        func execute(_ sql: String) throws { try check(pq_exec(session, sql)) }

        func text(_ sql: String) throws -> String {
            var text: UnsafeMutablePointer<CChar>?
            try check(pq_text(session, sql, &text))
            defer { free(text) }
            return text.map { String(cString: $0) } ?? ""
        }

        // MARK: Contents

        private var placeCounts: (homes: Int, shops: Int, units: Int) {
            (Int(raw_home_count(Int64(rows))), Int(raw_shop_count(Int64(rows))), Int(raw_unit_count()))
        }

        /// Entity numbers follow the alphabet: Item 1, LocationAtHome 2, LocationAtShop 3, Unit 4.
        func fillPlaces() throws {
            let (homes, shops, units) = placeCounts
            for (table, column, number, count, name) in [
                ("LocationAtHome", "storedIn", 2, homes, "'Shelf ' || LPAD(k::TEXT, 6, '0')"),
                ("LocationAtShop", "aisle", 3, shops, "'Aisle ' || LPAD(k::TEXT, 6, '0')"),
                ("Unit", "name", 4, units, "'Unit ' || LPAD(k::TEXT, 2, '0')"),
            ] {
                try execute(
                    "INSERT INTO \"\(table)\" (\"_id\", \"_entity\", \"_version\", \"\(column)\") "
                        + "SELECT k, \(number), 1, \(name) FROM GENERATE_SERIES(1, \(count)) AS s(k)")
                try execute("UPDATE \"_entities\" SET \"last_id\" = \(count) WHERE \"name\" = '\(table)'")
            }
        }

        /// The store as it is before the work.
        func reset(withItems: Bool) throws {
            try execute("TRUNCATE \"Item\"")
            for table in ["LocationAtHome", "LocationAtShop", "Unit"] {
                try execute("UPDATE \"\(table)\" SET \"_version\" = 1 WHERE \"_version\" <> 1")
            }
            try execute("UPDATE \"_entities\" SET \"last_id\" = 0 WHERE \"name\" = 'Item'")
            if withItems {
                let items = Self.items(from: 1, count: rows, rows: rows)
                try insert(items, owners: false)
            }
            for table in ["Item", "LocationAtHome", "LocationAtShop", "Unit", "_entities", "_commits"] {
                try execute("VACUUM ANALYZE \"\(table)\"")
            }
            try execute("CHECKPOINT")
        }

        private static func items(from first: Int, count: Int, rows: Int) -> [pq_item] {
            Samples.rawItems(from: first, count: count, rows: rows).map { item in
                var made = pq_item()
                (made.home, made.shop, made.unit) = (item.home, item.shop, item.unit)
                (made.quantity, made.collected, made.listed) = (item.quantity, item.collected, item.listed)
                made.name_length = item.name_length
                withUnsafeMutableBytes(of: &made.name) { to in
                    withUnsafeBytes(of: item.name) { to.copyMemory(from: $0) }
                }
                return made
            }
        }

        func tableDigest() throws -> String {
            try text(
                """
                SELECT CONCAT_WS(' ', COUNT(*), SUM("_entity"), SUM("_version"), SUM("collected"::INTEGER), SUM("listed"::INTEGER),
                    SUM("locationAtHome"), SUM("locationAtShop"), SUM("unit"), SUM("quantity"), SUM(LENGTH("name")), COUNT("photo"),
                    (SELECT SUM("_version") FROM "LocationAtHome"), (SELECT SUM("_version") FROM "LocationAtShop"),
                    (SELECT SUM("_version") FROM "Unit"),
                    (SELECT "last_id" FROM "_entities" WHERE "name" = 'Item') >= MAX("_id")) FROM "Item"
                """)
        }

        // MARK: Work

        func trial(_ kind: ServerWorkload) throws -> Trial {
            let count = kind.count(rows: rows)
            let work: () throws -> Digest
            switch kind {
            case .insert:
                let items = Self.items(from: 1, count: rows, rows: rows)
                work = { [self] in
                    try insert(items, owners: true)
                    return Digest()
                }
            case .saveEach, .saveEachNoted:
                let items = Self.items(from: rows + 1, count: count, rows: rows)
                work = { [self] in
                    var key: Int64 = 0
                    for (index, item) in items.enumerated() {
                        if index % 256 == 0 { try leavePipeline { try check(pq_reserve_keys(session, 256, &key)) } }
                        var item = item
                        try check(pq_insert_one(session, key, &item, kind == .saveEachNoted ? Int64(index + 1) : 0))
                        key += 1
                    }
                    return Digest()
                }
            case .update:
                var loaded = [pq_row](repeating: pq_row(), count: rows)
                try check(pq_load(session, &loaded, Int64(rows)))
                work = { [self, loaded] in
                    try check(pq_update(session, loaded, Int64(loaded.count)))
                    return Digest()
                }
            case .fetchAll: work = { [self] in try reading { pq_fetch_all(session, &$0) } }
            case .prefetch: work = { [self] in try reading { pq_fetch_joined(session, &$0) } }
            case .fetchKeys, .siblings, .copy:
                let keys = Samples.shuffledPositions(rows).prefix(count).map { Int64($0 + 1) }
                work = { [self] in try reading { pq_fetch_keys(session, keys, Int64(keys.count), &$0) } }
            }
            return Trial(run: work, finish: { [self] in try leavePipeline {} })
        }

        /// Seconds that COPY of all items takes, the work of making them aside.
        func copyItems() throws -> Double {
            let items = Self.items(from: 1, count: rows, rows: rows)
            let start = ContinuousClock.now
            try insert(items, owners: false)
            return (ContinuousClock.now - start) / .seconds(1)
        }

        private func leavePipeline(_ body: () throws -> Void) throws {
            pq_leave_pipeline(session)
            try body()
        }

        private func reading(_ read: (inout pq_digest) -> Int32) throws -> Digest {
            var digest = pq_digest()
            try check(read(&digest))
            return Digest(rows: Int(digest.rows), number: digest.number, bytes: Int(digest.bytes))
        }

        private func insert(_ items: [pq_item], owners: Bool) throws {
            func all(_ count: Int) -> [pq_owner] {
                owners ? (1...count).map { pq_owner(key: Int64($0), version: 1) } : []
            }
            let (homes, shops, units) = (all(placeCounts.homes), all(placeCounts.shops), all(placeCounts.units))
            var first: Int64 = 0
            try check(pq_reserve_keys(session, Int64(items.count), &first))
            try check(
                pq_insert(
                    session, first, items, Int64(items.count), homes, Int64(homes.count), shops, Int64(shops.count),
                    units,
                    Int64(units.count)))
        }
    }
#endif
