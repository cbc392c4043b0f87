import Foundation

/// The pages of a database file, parsed as far as necessary to find orphaned rows:
/// <https://sqlite.org/fileformat2.html>.
struct DatabasePages {
    enum Kind: UInt8 {
        case interior = 0x05
        case leaf = 0x0D
    }

    let bytes: Data
    let pageSize: Int
    let count: Int
    /// The part of a page that cells can use: the end may be reserved.
    let usableSize: Int
    /// The page whose bytes are used for file locks; it contains no data.
    var reservedPage: Int { 0x4000_0000 / pageSize + 1 }

    /// Parses the header; `nil` if the file does not start like a database.
    init?(_ bytes: Data) {
        guard bytes.count >= 512, bytes.starts(with: Data("SQLite format 3\0".utf8)) else { return nil }
        self.bytes = bytes
        let size = Int(bytes[16]) << 8 | Int(bytes[17])
        pageSize = size == 1 ? 65536 : size
        guard pageSize >= 512, pageSize & (pageSize - 1) == 0 else { return nil }
        usableSize = pageSize - Int(bytes[20])
        count = bytes.count / pageSize
        guard usableSize >= 480, count > 0 else { return nil }
    }

    // MARK: Numbers

    private func start(_ page: Int) -> Int { (page - 1) * pageSize }
    /// The offset of the page header; the first page starts with the file header.
    private func header(_ page: Int) -> Int { page == 1 ? 100 : 0 }

    private func number(_ page: Int, _ offset: Int, _ length: Int) -> Int {
        bytes[(start(page) + offset)..<(start(page) + offset + length)].reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a number of one to nine bytes and returns its end; `nil` beyond the page.
    private func varint(_ page: Int, _ offset: Int) -> (value: Int64, end: Int)? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard offset + index < pageSize else { return nil }
            let byte = UInt64(bytes[start(page) + offset + index])
            if index == 8 { return (Int64(bitPattern: value << 8 | byte), offset + 9) }
            value = value << 7 | byte & 0x7F
            if byte & 0x80 == 0 { return (Int64(bitPattern: value), offset + index + 1) }
        }
        return nil
    }

    // MARK: Pages

    func kind(_ page: Int) -> Kind? { Kind(rawValue: bytes[start(page) + header(page)]) }

    /// Returns the offsets of a page's cells; `nil` if they are invalid.
    private func cells(_ page: Int, _ kind: Kind) -> [Int]? {
        let header = header(page)
        let first = header + (kind == .leaf ? 8 : 12)
        let count = number(page, header + 3, 2)
        guard first + 2 * count <= usableSize else { return nil }
        var cells: [Int] = []
        cells.reserveCapacity(count)
        for index in 0..<count {
            let cell = number(page, first + 2 * index, 2)
            guard cell >= first + 2 * count, cell + 2 < usableSize else { return nil }
            cells.append(cell)
        }
        return cells
    }

    /// Returns the child pages of an interior page, each except the last with its highest possible key.
    func children(_ page: Int) -> [(page: Int, key: Int64?)]? {
        guard let cells = cells(page, .interior), !cells.isEmpty else { return nil }
        var children: [(page: Int, key: Int64?)] = []
        for cell in cells {
            guard cell + 5 <= usableSize, let key = varint(page, cell + 4)?.value,
                children.last.map({ $0.key ?? .max < key }) ?? true
            else { return nil }
            children.append((number(page, cell, 4), key))
        }
        children.append((number(page, header(page) + 8, 4), nil))
        return children.allSatisfy { $0.page > 1 && $0.page <= count } ? children : nil
    }

    /// Returns the keys of the first and last row of a leaf; `nil` if it is damaged or empty.
    func keys(ofLeaf page: Int) -> ClosedRange<Int64>? {
        guard let cells = cells(page, .leaf), !cells.isEmpty else { return nil }
        var first: Int64?
        var last = Int64.min
        for cell in cells {
            guard let size = varint(page, cell), size.value >= 0, let key = varint(page, size.end)?.value,
                first == nil || key > last
            else { return nil }
            first = first ?? key
            last = key
        }
        return first.map { $0...last }
    }

    /// Returns the integers in the first row of a leaf, `nil` for other values; only those that lie in the page.
    func numbers(ofFirstRowIn page: Int) -> [Int64?]? {
        guard let cell = cells(page, .leaf)?.first, let size = varint(page, cell),
            let key = varint(page, size.end), let header = varint(page, key.end)
        else { return nil }
        let headerEnd = key.end + Int(clamping: header.value)
        guard header.value > 0, headerEnd <= usableSize else { return nil }
        var (place, value) = (header.end, headerEnd)
        var numbers: [Int64?] = []
        while place < headerEnd {
            guard let type = varint(page, place), type.value >= 0 else { return nil }
            place = type.end
            switch type.value {
            case 8, 9: numbers.append(type.value - 8)
            case 1...6:
                let length = [1, 2, 3, 4, 6, 8][Int(type.value) - 1]
                guard value + length <= usableSize else { return numbers }
                let bits = 64 - 8 * length
                numbers.append((Int64(number(page, value, length)) << bits) >> bits)
                value += length
            case 7:
                numbers.append(nil)
                value += 8
            case 0: numbers.append(nil)
            default:
                numbers.append(nil)
                let length = (type.value - 12) / 2
                // The rest of the row is on overflow pages.
                guard length < Int64(usableSize) else {
                    value = usableSize
                    continue
                }
                value += Int(length)
            }
        }
        return numbers
    }

    /// The free pages, whose rows were deleted.
    var freePages: Set<Int> {
        var free: Set<Int> = []
        var trunk = number(1, 32, 4)
        while trunk > 1, trunk <= count, free.insert(trunk).inserted {
            let leaves = min(number(trunk, 4, 4), (usableSize - 8) / 4)
            for index in 0..<max(0, leaves) { free.insert(number(trunk, 8 + 4 * index, 4)) }
            trunk = number(trunk, 0, 4)
        }
        return free
    }
}
