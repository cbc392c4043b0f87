import CoreData
import CoreDataSyncEngine
import Foundation

// Blocks of entries. An entry is in one block, or has a row of its own.
extension Sidecar {
    private struct BlockRow: FetchedRow {
        var firstID: UUID
        var lastID: UUID
        var firstPlace: Int64
        var lastPlace: Int64
        var entries: Int64
    }

    private struct BlockBytes: FetchedRow {
        var firstID: UUID
        var bytes: Data
    }

    /// The number of blocks that are read by one statement.
    private static let blockPortion = 64

    func directory(_ context: NSManagedObjectContext) throws -> BlockDirectory {
        if let blockDirectory { return blockDirectory }
        guard hasBlocks else { return BlockDirectory([]) }
        let rows = try context.fetch(NSFetchRequest<BlockObject>(entityName: "Block"), as: BlockRow.self)
        let made = BlockDirectory(
            rows.map { row in
                let range = EntryBlock.Range(
                    first: GlobalID(row.firstID), last: GlobalID(row.lastID), firstPlace: row.firstPlace,
                    lastPlace: row.lastPlace)
                return BlockDirectory.Block(range: range, count: Int(clamping: row.entries))
            })
        blockDirectory = made
        return made
    }

    // MARK: Reading

    /// Calls a closure with the wanted entries of some blocks, each time with what the contents of one block have in
    /// common.
    func readBlocks(
        _ numbers: [Int], _ context: NSManagedObjectContext, where isWanted: (GlobalID, Int64) -> Bool,
        _ body: (Data, [EntryBlock.Entry]) throws -> Void
    ) throws {
        guard !numbers.isEmpty else { return }
        let directory = try directory(context)
        for start in stride(from: 0, to: numbers.count, by: Self.blockPortion) {
            let some = numbers[start..<min(numbers.count, start + Self.blockPortion)].map { directory.blocks[$0] }
            let blocks = Dictionary(some.map { ($0.range.first, $0) }, uniquingKeysWith: { first, _ in first })
            let request = NSFetchRequest<BlockObject>(entityName: "Block")
            request.predicate = NSPredicate(format: "firstID IN %@", some.map(\.range.first.uuid))
            for row in try context.fetch(request, as: BlockBytes.self) {
                guard let block = blocks[GlobalID(row.firstID)] else { continue }
                do {
                    let found = try EntryBlock.read(row.bytes, block.range, count: block.count, isWanted)
                    if !found.entries.isEmpty { try body(found.prefix, found.entries) }
                } catch let fault as FileFault { throw damage(block.range.first, fault) }
            }
        }
    }

    /// The wanted entries of some blocks.
    func blockEntries(
        _ numbers: [Int], _ context: NSManagedObjectContext, where isWanted: (GlobalID, Int64) -> Bool
    ) throws -> [SidecarEntry] {
        var result: [SidecarEntry] = []
        try readBlocks(numbers, context, where: isWanted) { prefix, entries in
            let (bytes, start) = try EncodedEntry.parts(prefix)
            // The states of a block differ in their IDs only.
            let state = try coder.decode(bytes, id: entries[0].id)
            for entry in entries {
                result.append(
                    SidecarEntry(
                        id: entry.id, root: coder.names.name(EntryPlace.root(entry.place)) ?? "",
                        key: EntryPlace.key(entry.place), state: state.copied(entry.id),
                        digests: start.map { $0 + entry.digests }))
            }
        }
        return result
    }

    /// The next entries in the order of their IDs: those of rows, which a caller has, together with those of blocks.
    ///
    /// - Parameters:
    ///   - rows: the entries with rows after `start`, up to `end`; all of them if `end` is `nil`.
    ///   - portion: the number of entries of blocks that are read, if there are so many.
    func withBlockEntries(
        _ rows: [SidecarEntry], after start: GlobalID?, upTo end: GlobalID?, _ portion: Int,
        _ context: NSManagedObjectContext
    ) throws -> [SidecarEntry] {
        let directory = try directory(context)
        let blocks = directory.blocks
        var found: [SidecarEntry] = []
        // Entries from here on may be in blocks that were not read.
        var bound: GlobalID?
        var next = 0
        while next < blocks.count {
            let (number, range) = (next, blocks[next].range)
            if let end, range.first > end { break }
            next += 1
            if let start, range.last <= start { continue }
            found += try blockEntries([number], context) { id, _ in
                (start.map { id > $0 } ?? true) && (end.map { id <= $0 } ?? true)
            }
            guard next < blocks.count else { break }
            let following = blocks[next].range.first
            if found.count >= portion, found.count(where: { $0.id < following }) >= portion {
                bound = following
                break
            }
        }
        if found.isEmpty { return rows }
        return (rows + found).filter { entry in bound.map { entry.id < $0 } ?? true }.sorted { $0.id < $1.id }
    }

    // MARK: Writing

    func insert(
        _ blocks: [EntryBlock], into directory: inout BlockDirectory, _ context: NSManagedObjectContext
    ) {
        for block in blocks { BlockObject(context: context).take(block) }
        directory.change([:], adding: blocks.map { BlockDirectory.Block(range: $0.range, count: $0.count) })
    }

    /// Takes entries out of their blocks.
    func removeFromBlocks(
        _ ids: [GlobalID], _ directory: inout BlockDirectory, _ context: NSManagedObjectContext
    ) throws {
        let numbers = directory.numbers(of: ids.sorted())
        guard !numbers.isEmpty else { return }
        let removed = Set(ids)
        var changes: [GlobalID: BlockDirectory.Block?] = [:]
        for start in stride(from: 0, to: numbers.count, by: Self.blockPortion) {
            let some = numbers[start..<min(numbers.count, start + Self.blockPortion)].map { directory.blocks[$0] }
            let request = NSFetchRequest<BlockObject>(entityName: "Block")
            request.predicate = NSPredicate(format: "firstID IN %@", some.map(\.range.first.uuid))
            request.returnsObjectsAsFaults = false
            for object in try context.fetch(request) {
                let (range, count) = (object.range, Int(clamping: object.entries))
                let (prefix, left) = try EntryBlock.read(object.bytes, range, count: count) { id, _ in
                    !removed.contains(id)
                }
                if left.count == count { continue }
                if let block = EntryBlock(left, prefix: prefix) {
                    object.take(block)
                    changes[range.first] = BlockDirectory.Block(range: block.range, count: block.count)
                } else {
                    context.delete(object)
                    changes[range.first] = .some(nil)
                }
            }
        }
        directory.change(changes)
    }
}

extension ObjectState {
    /// The same state of another object.
    fileprivate func copied(_ id: GlobalID) -> Self {
        var result = Self(id: id, entity: entity)
        (result.born, result.created, result.deleted) = (born, created, deleted)
        (result.properties, result.edges, result.aliases) = (properties, edges, aliases)
        return result
    }
}
