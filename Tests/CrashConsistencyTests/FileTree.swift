import Foundation

/// The files of a folder, in memory.
struct FileTree: Equatable {
    /// The number of the folder itself.
    static let root = 1

    var files: [Int: Data] = [:]
    /// The entries of each folder.
    var folders: [Int: [String: Int]] = [root: [:]]

    /// Has the effect of a call, as far as the tree allows: without the call that made an entry, there is none to
    /// remove.
    mutating func apply(_ call: RecordedCall) {
        switch call.kind {
        case .create:
            files[call.file, default: Data()] = files[call.file] ?? Data()
            folders[call.folder]?[call.name] = call.file
        case .makeFolder:
            folders[call.file] = folders[call.file] ?? [:]
            folders[call.folder]?[call.name] = call.file
        case .link: folders[call.folder]?[call.name] = call.file
        case .write: write(call.data, to: call.file, at: call.offset)
        case .resize: resize(call.file, to: call.offset)
        case .rename:
            if folders[call.folder]?[call.name] == call.file { folders[call.folder]?[call.name] = nil }
            folders[call.otherFolder]?[call.otherName] = call.file
        case .unlink, .removeFolder:
            if folders[call.folder]?[call.name] == call.file { folders[call.folder]?[call.name] = nil }
        case .synchronize, .mark, .unknown: break
        }
    }

    private mutating func write(_ data: Data, to file: Int, at offset: Int) {
        let missing = offset + data.count - (files[file]?.count ?? 0)
        if missing > 0 { files[file, default: Data()].append(Data(count: missing)) }
        files[file]?.replaceSubrange(offset..<offset + data.count, with: data)
    }

    private mutating func resize(_ file: Int, to size: Int) {
        let count = files[file]?.count ?? 0
        if size < count {
            files[file] = files[file]?.prefix(size)
        } else {
            files[file, default: Data()].append(Data(count: size - count))
        }
    }

    /// The contents by path; `nil` for folders. The index of a write-ahead log is left out: SQLite makes it anew.
    var contents: [String: Data?] {
        var found: [String: Data?] = [:]
        func add(_ folder: Int, _ path: String) {
            for (name, number) in folders[folder] ?? [:] where !name.hasSuffix("-shm") {
                if folders[number] != nil {
                    found.updateValue(nil, forKey: path + name)
                    add(number, "\(path)\(name)/")
                } else {
                    found[path + name] = files[number] ?? Data()
                }
            }
        }
        add(Self.root, "")
        return found
    }

    /// A number of the contents, for recognising equal ones.
    var fingerprint: Int {
        var hasher = Hasher()
        func add(_ folder: Int) {
            for (name, number) in (folders[folder] ?? [:]).sorted(by: { $0.key < $1.key }) where !name.hasSuffix("-shm")
            {
                hasher.combine(name)
                if folders[number] != nil {
                    add(number)
                    hasher.combine(0)
                } else {
                    files[number]?.withUnsafeBytes { hasher.combine(bytes: $0) }
                    hasher.combine(files[number]?.count ?? -1)
                }
            }
        }
        add(Self.root)
        return hasher.finalize()
    }

    /// Writes the files to a new folder.
    func write(to folder: URL) throws {
        let manager = FileManager.default
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        for (path, data) in contents.sorted(by: { $0.key < $1.key }) {
            let url = folder.appendingPathComponent(path)
            if let data {
                try data.write(to: url)
            } else {
                try manager.createDirectory(at: url, withIntermediateDirectories: true)
            }
        }
    }
}

/// The files of a folder, and their numbers by inode.
struct FolderScan {
    var tree = FileTree()
    var numbers: [UInt64: Int] = [:]

    init(_ folder: URL) throws {
        numbers[try Self.inode(folder)] = FileTree.root
        try scan(folder, FileTree.root)
    }

    private static func inode(_ url: URL) throws -> UInt64 {
        var status = stat()
        guard lstat(url.path, &status) == 0 else { throw POSIXError(.ENOENT) }
        return UInt64(status.st_ino)
    }

    private mutating func scan(_ folder: URL, _ number: Int) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let url = folder.appendingPathComponent(name)
            let inode = try Self.inode(url)
            let found = numbers[inode] ?? numbers.count + 1
            numbers[inode] = found
            tree.folders[number]?[name] = found
            var isFolder: ObjCBool = false
            if FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue {
                tree.folders[found] = [:]
                try scan(url, found)
            } else {
                tree.files[found] = try Data(contentsOf: url)
            }
        }
    }
}
