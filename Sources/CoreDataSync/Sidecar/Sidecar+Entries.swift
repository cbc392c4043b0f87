import CoreData
import CoreDataSyncEngine
import Foundation

// Reading entries: as rows without objects, thousands in a statement.
extension Sidecar {
    struct EntryRow: FetchedRow {
        var identifier: UUID
        var place: Int64
        var content: Data
    }

    private struct KeyRow: FetchedRow {
        var identifier: UUID
        var place: Int64
    }

    /// The number of values in one predicate.
    static let portion = 2_000

    /// The entries of these objects that exist, in no order.
    package func entries(ids: [GlobalID]) throws -> [SidecarEntry] {
        guard !ids.isEmpty else { return [] }
        return try perform { context in
            try finishRedo(context)
            let sorted = ids.sorted()
            var result: [SidecarEntry] = []
            for start in stride(from: 0, to: sorted.count, by: Self.portion) {
                let some = sorted[start..<min(sorted.count, start + Self.portion)]
                for row in try Self.rows(some, in: context) { result.append(try entry(row)) }
            }
            let blocks = try directory(context).numbers(of: sorted)
            if blocks.isEmpty { return result }
            let wanted = Set(ids)
            return result + (try blockEntries(blocks, context) { id, _ in wanted.contains(id) })
        }
    }

    /// The entries of objects, and of those to which these lead in turn.
    func entries(
        of ids: Set<GlobalID>, following next: (SidecarEntry) -> Set<GlobalID>
    ) throws -> [GlobalID: SidecarEntry] {
        var result: [GlobalID: SidecarEntry] = [:]
        var wanted = ids
        while !wanted.isEmpty {
            let found = try entries(ids: Array(wanted))
            for entry in found { result[entry.id] = entry }
            wanted = found.reduce(into: []) { wanted, entry in
                wanted.formUnion(next(entry).filter { result[$0] == nil })
            }
        }
        return result
    }

    /// The entries of these primary keys that exist, in no order. `root` is the topmost ancestor of the entity.
    package func entries(root: String, keys: [Int64]) throws -> [SidecarEntry] {
        guard !keys.isEmpty else { return [] }
        return try perform { context in
            try finishRedo(context)
            guard let number = coder.names.existingNumber(of: root) else { return [] }
            var result: [SidecarEntry] = []
            for predicate in Self.predicates(root: number, keys) {
                for row in try Self.fetch(predicate.predicate, in: context)
                where predicate.includes(EntryPlace.key(row.place)) {
                    result.append(try entry(row))
                }
            }
            let (blocks, wanted) = try blocks(root: number, keys, context)
            return result + (try blockEntries(blocks, context) { _, place in wanted.contains(place) })
        }
    }

    /// The IDs of objects by their primary keys, without their states.
    package func identifiers(root: String, keys: [Int64]) throws -> [Int64: GlobalID] {
        guard !keys.isEmpty else { return [:] }
        return try perform { context in
            try finishRedo(context)
            guard let number = coder.names.existingNumber(of: root) else { return [:] }
            var result: [Int64: GlobalID] = [:]
            for predicate in Self.predicates(root: number, keys) {
                let request = NSFetchRequest<EntryObject>(entityName: "Entry")
                request.predicate = predicate.predicate
                for row in try context.fetch(request, as: KeyRow.self)
                where predicate.includes(EntryPlace.key(row.place)) {
                    result[EntryPlace.key(row.place)] = GlobalID(row.identifier)
                }
            }
            let (blocks, wanted) = try blocks(root: number, keys, context)
            try readBlocks(blocks, context, where: { _, place in wanted.contains(place) }) { _, entries in
                for entry in entries { result[EntryPlace.key(entry.place)] = entry.id }
            }
            return result
        }
    }

    /// The keys of all objects of a hierarchy that have a row, ascending.
    package func keys(root: String) throws -> [Int64] {
        try perform { context in
            try finishRedo(context)
            guard let number = coder.names.existingNumber(of: root) else { return [] }
            let request = NSFetchRequest<EntryObject>(entityName: "Entry")
            let start = EntryPlace.make(root: Int32(number), key: 0)
            request.predicate = NSPredicate(
                format: "place > %lld AND place < %lld", start, start + 1 << EntryPlace.keyBits)
            request.sortDescriptors = [NSSortDescriptor(key: "place", ascending: true)]
            var keys = try context.fetch(request, as: KeyRow.self).map { EntryPlace.key($0.place) }
            let end = start + 1 << EntryPlace.keyBits
            let blocks = try directory(context).numbers(from: start, to: end)
            if blocks.isEmpty { return keys }
            try readBlocks(blocks, context, where: { _, place in place > start && place < end }) { _, entries in
                keys += entries.map { EntryPlace.key($0.place) }
            }
            return keys.sorted()
        }
    }

    /// The blocks that may have objects of these primary keys, and the places of the objects.
    private func blocks(
        root: Int, _ keys: [Int64], _ context: NSManagedObjectContext
    ) throws -> (numbers: [Int], places: Set<Int64>) {
        let directory = try directory(context)
        if directory.blocks.isEmpty { return ([], []) }
        let places = keys.filter { EntryPlace.fits(root: 0, key: $0) }
            .map { EntryPlace.make(root: Int32(root), key: $0) }
        let numbers = directory.numbers(ofPlaces: places.sorted())
        return (numbers, numbers.isEmpty ? [] : Set(places))
    }

    /// Calls a closure with all entries in the order of their IDs, a portion at a time.
    package func forEachEntry(portion: Int = 2_000, _ body: ([SidecarEntry]) throws -> Void) throws {
        var last: UUID?
        while true {
            let start = last
            let entries: [SidecarEntry] = try perform { context in
                try finishRedo(context)
                let request = NSFetchRequest<EntryObject>(entityName: "Entry")
                if let start { request.predicate = NSPredicate(format: "identifier > %@", start as CVarArg) }
                request.sortDescriptors = [NSSortDescriptor(key: "identifier", ascending: true)]
                request.fetchLimit = portion
                let rows = try context.fetch(request, as: EntryRow.self).map { try entry($0) }
                let end = rows.count < portion ? nil : rows.last?.id
                return try withBlockEntries(rows, after: start.map { GlobalID($0) }, upTo: end, portion, context)
            }
            guard let end = entries.last else { return }
            last = end.id.uuid
            try body(entries)
        }
    }

    // MARK: Rows

    /// The rows of sorted IDs. IDs of one device and time are neighbours: mostly all rows between them are wanted, or
    /// there are none.
    private static func rows(_ ids: ArraySlice<GlobalID>, in context: NSManagedObjectContext) throws -> [EntryRow] {
        guard let first = ids.first, let last = ids.last else { return [] }
        if ids.count > shortList {
            let request = NSFetchRequest<EntryObject>(entityName: "Entry")
            request.predicate = NSPredicate(
                format: "identifier BETWEEN {%@, %@}", first.uuid as CVarArg, last.uuid as CVarArg)
            request.fetchLimit = 2 * ids.count
            let found = try context.fetch(request, as: EntryRow.self)
            if found.count < 2 * ids.count {
                let wanted = Set(ids)
                return found.filter { wanted.contains(GlobalID($0.identifier)) }
            }
        }
        var result: [EntryRow] = []
        for start in stride(from: ids.startIndex, to: ids.endIndex, by: shortList) {
            let some = ids[start..<min(ids.endIndex, start + shortList)].map(\.uuid)
            result += try fetch(NSPredicate(format: "identifier IN %@", some), in: context)
        }
        return result
    }

    /// The most IDs that a statement looks up in the index; longer lists would be compared with every row.
    static let shortList = 500

    private static func fetch(_ predicate: NSPredicate, in context: NSManagedObjectContext) throws -> [EntryRow] {
        let request = NSFetchRequest<EntryObject>(entityName: "Entry")
        request.predicate = predicate
        return try context.fetch(request, as: EntryRow.self)
    }

    private func entry(_ row: EntryRow) throws -> SidecarEntry {
        let id = GlobalID(row.identifier)
        do {
            let (state, digests) = try EncodedEntry.parts(row.content)
            var entry = SidecarEntry(
                id: id, root: coder.names.name(EntryPlace.root(row.place)) ?? "", key: EntryPlace.key(row.place),
                state: try coder.decode(state, id: id), digests: digests)
            entry.formerKey = EntryPlace.formerKey(row.place)
            return entry
        } catch { throw damage(id, error) }
    }

    func damage(_ id: GlobalID, _ error: any Error) -> CocoaError {
        SyncErrors.make(
            134080,
            "The sidecar '\(url?.path ?? "in memory")' is damaged: the state of object \(id) cannot be read (\(error)). Move the file and its -wal and -shm files away; then the store is attached anew.",
            url.map { [NSFilePathErrorKey: $0.path] } ?? [:])
    }

    // MARK: Predicates

    struct KeyPredicate {
        let predicate: NSPredicate
        /// The wanted keys of a range; `nil` where the predicate names them.
        let wanted: Set<Int64>?

        func includes(_ key: Int64) -> Bool { wanted?.contains(key) ?? true }
    }

    /// Keys that lie closely together are asked for as ranges.
    static func predicates(root: Int, _ keys: [Int64]) -> [KeyPredicate] {
        let sorted = Set(keys.filter { EntryPlace.fits(root: 0, key: $0) }).sorted()
        return stride(from: 0, to: sorted.count, by: portion).map { start in
            let some = sorted[start..<min(sorted.count, start + portion)]
            let (first, last) = (some[some.startIndex], some[some.endIndex - 1])
            func place(_ key: Int64) -> Int64 { EntryPlace.make(root: Int32(root), key: key) }
            if last - first < 4 * Int64(some.count) {
                return KeyPredicate(
                    predicate: NSPredicate(format: "place BETWEEN {%lld, %lld}", place(first), place(last)),
                    wanted: last - first == Int64(some.count) - 1 ? nil : Set(some))
            }
            return KeyPredicate(predicate: NSPredicate(format: "place IN %@", some.map(place)), wanted: nil)
        }
    }
}
