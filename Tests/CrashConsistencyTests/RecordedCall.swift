import Foundation

/// A system call that changed a folder, as the program of a scenario recorded it; see `Tests/SystemCalls`.
struct RecordedCall {
    enum Kind: UInt32 {
        case create = 1
        case makeFolder, write, resize, synchronize, rename, unlink, removeFolder, link
        /// The scenario has announced a step.
        case mark
        /// A change that cannot be replayed.
        case unknown
    }

    var kind: Kind
    /// The file or folder.
    var file = 0
    /// The folder with the entry, and the folder of the new entry of a rename.
    var folder = 0
    var otherFolder = 0
    /// The offset of a write, the new size, or the number of a step.
    var offset = 0
    /// The name of the entry, and the new one of a rename.
    var name = ""
    var otherName = ""
    var data = Data()
}

extension RecordedCall: CustomStringConvertible {
    var description: String {
        switch kind {
        case .write: "write of \(data.count) bytes at \(offset) to file \(file)"
        case .resize: "resize of file \(file) to \(offset)"
        case .synchronize: "fsync of \(file)"
        case .rename: "rename of \(name) to \(otherName)"
        case .mark: "step \(offset)"
        default: "\(kind) \(name)"
        }
    }
}

/// The calls of a program, in order. Files and folders have numbers of their own, since file systems reuse inodes.
struct RecordedCalls {
    var before: FileTree
    var calls: [RecordedCall] = []

    struct Damaged: Error {}

    /// - Parameter before: the folder before the first call.
    init(log: Data, before scan: FolderScan) throws {
        before = scan.tree
        var numbers = scan.numbers
        var next = (numbers.values.max() ?? 0) + 1
        var log = log[...]
        // Indexes of write-ahead logs, which SQLite makes anew after a crash.
        var indexes = Set(before.folders.values.flatMap { $0 }.filter { $0.key.hasSuffix("-shm") }.map(\.value))
        func take(_ count: Int) throws -> Data {
            guard log.count >= count else { throw Damaged() }
            defer { log = log.dropFirst(count) }
            return Data(log.prefix(count))
        }
        func take<T: FixedWidthInteger>(_ type: T.Type) throws -> T {
            try take(MemoryLayout<T>.size).withUnsafeBytes { $0.loadUnaligned(as: T.self) }
        }
        func number(of inode: UInt64, isNew: Bool = false) -> Int {
            if inode == 0 { return 0 }
            if !isNew, let known = numbers[inode] { return known }
            numbers[inode] = next
            next += 1
            return next - 1
        }
        while !log.isEmpty {
            guard let kind = RecordedCall.Kind(rawValue: try take(UInt32.self)) else { throw Damaged() }
            let nameSize = Int(try take(UInt32.self))
            let (file, folder, otherFolder) = (try take(UInt64.self), try take(UInt64.self), try take(UInt64.self))
            let offset = Int(try take(Int64.self))
            let dataSize = Int(try take(UInt64.self))
            let names = String(decoding: try take(nameSize), as: UTF8.self).split(
                separator: "\0", omittingEmptySubsequences: false)
            let call = RecordedCall(
                kind: kind, file: number(of: file, isNew: [.create, .makeFolder].contains(kind)),
                folder: number(of: folder), otherFolder: number(of: otherFolder), offset: offset,
                name: names.first.map(String.init) ?? "", otherName: names.count > 1 ? String(names[1]) : "",
                data: try take(dataSize))
            if call.name.hasSuffix("-shm") { indexes.insert(call.file) }
            if !indexes.contains(call.file) { calls.append(call) }
        }
    }

    init(_ calls: [RecordedCall], before: FileTree) { (self.calls, self.before) = (calls, before) }
}
