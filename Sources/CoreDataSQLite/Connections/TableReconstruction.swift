import CSQLite
import CoreDataSQL
import Foundation

/// Rebuilds the B-trees of a damaged database's tables over their remaining leaf pages.
///
/// ```
///  root ─┬─ interior ✗    leaf 7 · leaf 9 · leaf 12, which are orphaned
///        └─ interior ─┬─ leaf 4
///                     └─ leaf 5          ──▶   root ─── 7 · 9 · 12 · 4 · 5, by their rows' keys
/// ```
/// It neither reads nor changes the rows themselves: the database does that after it finds them.
struct TableReconstruction {
    private struct Branch {
        var page: Int
        /// The highest key that the page contains, or can contain.
        var key: Int64
        /// The lowest key; `nil` for a damaged page.
        var first: Int64?
    }

    private struct Table {
        var name: String
        var root: Int
        var leaves: [Branch] = []
        /// Damaged pages with their depth and the highest key that they can contain.
        var broken: [(page: Int, depth: Int, key: Int64)] = []
        var depth = 0
        /// The number of orphaned pages.
        var found = 0
    }

    private let pages: DatabasePages
    private var owned: Set<Int> = []
    private var tables: [Table] = []
    /// The pages to write by number, including pages after the file's end.
    private(set) var changes: [Int: [UInt8]] = [:]
    private var pageCount: Int

    /// - Parameters:
    ///   - roots: the first page of each table.
    ///   - marks: the properties that identify the rows of the tables to rebuild.
    init(_ pages: DatabasePages, roots: [String: Int], marks: [TableMark]) {
        self.pages = pages
        pageCount = pages.count
        for (name, root) in roots where root > 1 && root <= pages.count {
            var table = Table(name: name, root: root)
            walk(root, depth: 0, upTo: .max, &table)
            tables.append(table)
        }
        guard tables.contains(where: { !$0.broken.isEmpty }) else { return }
        attribute(orphans(roots), marks)
        for index in tables.indices where tables[index].found > 0 {
            tables[index].found = grow(tables[index]) ? tables[index].found : 0
        }
    }

    /// The number of orphaned pages of each rebuilt table.
    var found: [String: Int] {
        Dictionary(uniqueKeysWithValues: tables.filter { $0.found > 0 }.map { ($0.name, $0.found) })
    }

    // MARK: Scanning

    private mutating func walk(_ page: Int, depth: Int, upTo key: Int64, _ table: inout Table) {
        guard depth < 20, owned.insert(page).inserted else { return }
        switch pages.kind(page) {
        case .interior:
            guard let children = pages.children(page) else { break }
            for child in children { walk(child.page, depth: depth + 1, upTo: child.key ?? key, &table) }
            return
        case .leaf:
            table.depth = depth
            // An empty table is a leaf without rows.
            guard let keys = pages.keys(ofLeaf: page) else {
                if depth > 0 { table.broken.append((page, depth, key)) }
                return
            }
            table.leaves.append(Branch(page: page, key: keys.upperBound, first: keys.lowerBound))
            return
        case nil: break
        }
        table.broken.append((page, depth, key))
    }

    private func orphans(_ roots: [String: Int]) -> [Branch] {
        let free = pages.freePages
        return (2...max(2, pages.count)).compactMap { page in
            guard page <= pages.count, pages.kind(page) == .leaf, !owned.contains(page), !free.contains(page),
                let keys = pages.keys(ofLeaf: page)
            else { return nil }
            return Branch(page: page, key: keys.upperBound, first: keys.lowerBound)
        }
    }

    /// Assigns orphaned pages whose rows can belong to only one damaged table to that table.
    private mutating func attribute(_ orphans: [Branch], _ marks: [TableMark]) {
        let marks = Dictionary(uniqueKeysWithValues: marks.map { ($0.table, $0) })
        let damaged = tables.indices.filter { !tables[$0].broken.isEmpty && marks[tables[$0].name] != nil }
        for orphan in orphans {
            guard let numbers = pages.numbers(ofFirstRowIn: orphan.page) else { continue }
            let owners = damaged.filter { marks[tables[$0].name]?.matches(numbers) ?? false }
            guard owners.count == 1 else { continue }
            tables[owners[0]].leaves.append(orphan)
            tables[owners[0]].found += 1
        }
    }

    // MARK: Rebuilding

    /// Rebuilds the tree of a table; returns whether it has any pages.
    private mutating func grow(_ table: Table) -> Bool {
        var branches = table.leaves.sorted { ($0.key, $0.page) < ($1.key, $1.page) }
        // If two pages have the same keys, one of them is not a valid page of the table.
        var last = Int64.min
        branches = branches.filter { branch in
            guard let first = branch.first, last == .min || first > last else { return false }
            last = branch.key
            return true
        }
        // A damaged leaf page remains unreadable, so that the loss of its rows is detected.
        for broken in table.broken where broken.depth == table.depth && broken.depth > 0 {
            let place = branches.firstIndex { $0.key > broken.key } ?? branches.count
            let key = place < branches.count ? broken.key : max(broken.key, branches.last?.key ?? 0)
            guard place == branches.count || (branches[place].first ?? .min) > broken.key else { continue }
            branches.insert(Branch(page: broken.page, key: key, first: nil), at: place)
        }
        guard branches.count > 1 else {
            guard let only = branches.first, only.first != nil else { return false }
            let start = (only.page - 1) * pages.pageSize
            changes[table.root] = Array(pages.bytes[start..<(start + pages.pageSize)])
            return true
        }
        while true {
            let groups = groups(branches)
            if groups.count == 1 {
                changes[table.root] = page(groups[0])
                return true
            }
            branches = groups.map { group in
                pageCount += pageCount + 1 == pages.reservedPage ? 2 : 1
                changes[pageCount] = page(group)
                return Branch(page: pageCount, key: group[group.count - 1].key, first: group[0].first)
            }
        }
    }

    private static func length(of key: Int64) -> Int {
        var (length, rest) = (1, UInt64(bitPattern: key) >> 7)
        while rest > 0, length < 9 { (length, rest) = (length + 1, rest >> 7) }
        return length
    }

    /// Groups the branches so that each group fits into a page and has at least two.
    private func groups(_ branches: [Branch]) -> [[Branch]] {
        var groups: [[Branch]] = [[]]
        var size = 12
        for branch in branches {
            let cell = 2 + 4 + Self.length(of: branch.key)
            if size + cell > pages.usableSize, groups[groups.count - 1].count > 1 {
                groups.append([])
                size = 12
            }
            groups[groups.count - 1].append(branch)
            size += cell
        }
        if groups.count > 1, groups[groups.count - 1].count == 1 {
            groups[groups.count - 1].insert(groups[groups.count - 2].removeLast(), at: 0)
        }
        return groups
    }

    /// Returns an interior page; the last branch has no key of its own.
    private func page(_ branches: [Branch]) -> [UInt8] {
        var page = [UInt8](repeating: 0, count: pages.pageSize)
        func put(_ number: Int, at offset: Int, _ length: Int) {
            for index in 0..<length { page[offset + index] = UInt8(number >> (8 * (length - 1 - index)) & 0xFF) }
        }
        var end = pages.usableSize
        for (index, branch) in branches.dropLast().enumerated() {
            let key = Self.varint(branch.key)
            end -= 4 + key.count
            put(branch.page, at: end, 4)
            page.replaceSubrange((end + 4)..<(end + 4 + key.count), with: key)
            put(end, at: 12 + 2 * index, 2)
        }
        page[0] = DatabasePages.Kind.interior.rawValue
        put(branches.count - 1, at: 3, 2)
        // 0 represents 65,536.
        put(end & 0xFFFF, at: 5, 2)
        put(branches[branches.count - 1].page, at: 8, 4)
        return page
    }

    private static func varint(_ key: Int64) -> [UInt8] {
        var rest = UInt64(bitPattern: key)
        let length = length(of: key)
        var bytes: [UInt8] = []
        // The ninth byte contains eight bits.
        if length == 9 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
        while bytes.count < length {
            let isGoingOn: UInt8 = bytes.isEmpty ? 0 : 0x80
            bytes.append(UInt8(rest & 0x7F) | isGoingOn)
            rest >>= 7
        }
        return bytes.reversed()
    }
}

extension SQLiteFile {
    package static func regrow(
        _ marks: [TableMark], of source: DatabaseOptions, at path: String
    ) throws -> [String: Int] {
        guard let sourcePath = source.path else { return [:] }
        var roots: [String: Int] = [:]
        do {
            let from = try SQLiteConnection.openReadOnly(sourcePath)
            defer { sqlite3_close_v2(from) }
            // So that a file that is shorter than its header says can be read too.
            try run("PRAGMA writable_schema = ON", on: from)
            let to = try SQLiteConnection.open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE)
            defer { sqlite3_close_v2(to) }
            try copy(from, to)
            var statement: OpaquePointer?
            let sql = "SELECT name, rootpage FROM sqlite_master WHERE type = 'table'"
            guard sqlite3_prepare_v2(from, sql, -1, &statement, nil) == SQLITE_OK else {
                throw SQLFailure.last(of: from, code: sqlite3_errcode(from), sql: sql)
            }
            defer { sqlite3_finalize(statement) }
            while sqlite3_step(statement) == SQLITE_ROW {
                guard let name = sqlite3_column_text(statement, 0) else { continue }
                roots[String(cString: name)] = Int(sqlite3_column_int64(statement, 1))
            }
        }
        guard let pages = DatabasePages(try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe))
        else { return [:] }
        let reconstruction = TableReconstruction(pages, roots: roots, marks: marks)
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        for (page, bytes) in reconstruction.changes.sorted(by: { $0.key < $1.key }) {
            try file.seek(toOffset: UInt64((page - 1) * pages.pageSize))
            try file.write(contentsOf: Data(bytes))
        }
        // The header contains the number of pages.
        let count = UInt32(max(pages.count, reconstruction.changes.keys.max() ?? 0)).bigEndian
        try file.seek(toOffset: 28)
        try file.write(contentsOf: withUnsafeBytes(of: count) { Data($0) })
        return reconstruction.found
    }
}
