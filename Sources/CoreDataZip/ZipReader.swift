import Foundation

/// Reads an untrusted zip archive. It checks every field of the archive before it writes a byte.
///
///     let reader = try ZipReader(url, limits: .init(bytes: 1 << 30))
///     for entry in reader.entries { try reader.extract(entry, to: folder.appendingPathComponent(entry.name)) }
///
/// It refuses names that point outside the folder, duplicate names, links, encryption, overlapping entries, wrong sizes
/// or checksums, archives over 4 GB, and content beyond the limits.
package final class ZipReader {
    /// The limits on the content of an archive.
    package struct Limits: Sendable {
        /// The maximum size of all decompressed entries together.
        package var bytes: Int
        package var entries: Int

        package init(bytes: Int = 64 << 30, entries: Int = 65_000) {
            self.bytes = bytes
            self.entries = entries
        }
    }

    /// A file in the archive.
    package struct Entry: Hashable, Sendable {
        package let name: String
        /// The decompressed size in bytes.
        package let size: Int
        package let compressedSize: Int
        package let crc: UInt32
        let method: UInt16
        /// The offset of the entry's header.
        let offset: Int
        /// The offset of the entry's bytes.
        var start = 0
    }

    private let handle: FileHandle
    private let fileSize: Int
    package private(set) var entries: [Entry] = []

    /// - Throws: ``ZipFailure`` if the file is not an archive, or if the archive is refused.
    package init(_ url: URL, limits: Limits = Limits()) throws {
        do { handle = try FileHandle(forReadingFrom: url) } catch {
            throw ZipFailure(.file, "'\(url.path)' cannot be read")
        }
        fileSize = Int(try handle.seekToEnd())
        try readEntries(limits)
    }

    deinit { try? handle.close() }

    // MARK: Central directory

    private func readEntries(_ limits: Limits) throws {
        let (count, size, start) = try readEnd()
        guard count <= limits.entries else { throw ZipFailure(.refused, "the archive has \(count) files, too many") }
        let list = ZipFields(bytes: try bytes(at: start, count: size))
        var names: Set<String> = []
        var total = 0
        var index = 0
        for _ in 0..<count {
            let (entry, length) = try entry(list, at: index)
            index += length
            guard names.insert(entry.name).inserted else {
                throw ZipFailure(.refused, "two files of the archive have the name '\(entry.name)'")
            }
            total += entry.size
            guard total <= limits.bytes else {
                throw ZipFailure(.refused, "the archive holds more than \(limits.bytes) bytes")
            }
            entries.append(entry)
        }
        guard index == size else { throw ZipFailure(.damaged, "the list of files in the archive is damaged") }
        try readHeaders(before: start)
    }

    /// Reads the end record; only a comment may follow it.
    private func readEnd() throws -> (count: Int, size: Int, start: Int) {
        let length = min(fileSize, ZipFormat.endLength + 0xFFFF)
        guard length >= ZipFormat.endLength else { throw ZipFailure(.damaged, "the file is no zip archive") }
        let tail = ZipFields(bytes: try bytes(at: fileSize - length, count: length))
        for index in stride(from: length - ZipFormat.endLength, through: 0, by: -1) {
            guard try tail.long(index) == ZipFormat.endSignature,
                index + ZipFormat.endLength + Int(try tail.short(index + 20)) == length
            else { continue }
            let (count, size) = (Int(try tail.short(index + 10)), Int(try tail.long(index + 12)))
            let start = Int(try tail.long(index + 16))
            guard count != 0xFFFF, size != 0xFFFF_FFFF, start != 0xFFFF_FFFF else {
                throw ZipFailure(.unsupported, "archives over 4 GB (zip64) cannot be read")
            }
            guard try tail.short(index + 4) == 0, try tail.short(index + 6) == 0,
                Int(try tail.short(index + 8)) == count
            else { throw ZipFailure(.unsupported, "archives in several parts cannot be read") }
            guard start + size == fileSize - length + index else {
                throw ZipFailure(.damaged, "the archive is damaged: its list of files is not where it says")
            }
            return (count, size, start)
        }
        throw ZipFailure(.damaged, "the file is no zip archive, or its end is missing")
    }

    private func entry(_ list: ZipFields, at index: Int) throws -> (Entry, length: Int) {
        guard try list.long(index) == ZipFormat.centralSignature else {
            throw ZipFailure(.damaged, "the list of files in the archive is damaged")
        }
        let nameLength = Int(try list.short(index + 28))
        let name = try list.text(index + ZipFormat.centralLength, count: nameLength)
        try Self.check(name)
        let flags = try list.short(index + 8)
        guard flags & ZipFormat.isEncrypted == 0 else { throw ZipFailure(.unsupported, "'\(name)' is encrypted") }
        let method = try list.short(index + 10)
        guard method == ZipFormat.stored || method == ZipFormat.deflated else {
            throw ZipFailure(.unsupported, "'\(name)' is compressed by a method that is not known (\(method))")
        }
        // The file type, if the archive was made on Unix.
        let kind = try list.long(index + 38) >> 16 & 0o170000
        guard kind == 0 || kind == 0o100000 else {
            throw ZipFailure(.refused, "'\(name)' is a link or a device, no plain file")
        }
        let (compressed, size) = (try list.long(index + 20), try list.long(index + 24))
        let offset = try list.long(index + 42)
        guard compressed != 0xFFFF_FFFF, size != 0xFFFF_FFFF, offset != 0xFFFF_FFFF else {
            throw ZipFailure(.unsupported, "archives over 4 GB (zip64) cannot be read")
        }
        // DEFLATE expands one byte to at most 1,032.
        guard method == ZipFormat.deflated ? Int(size) <= Int(compressed) * 1_040 + 64 : size == compressed else {
            throw ZipFailure(.refused, "'\(name)' claims to be larger than it can be")
        }
        let entry = Entry(
            name: name, size: Int(size), compressedSize: Int(compressed), crc: try list.long(index + 16),
            method: method, offset: Int(offset))
        let rest = Int(try list.short(index + 30)) + Int(try list.short(index + 32))
        return (entry, ZipFormat.centralLength + nameLength + rest)
    }

    /// Checks that the name does not point outside the destination folder.
    private static func check(_ name: String) throws {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard !name.isEmpty, name.utf8.count < 1024, !name.utf8.contains(0), !name.contains("\\"),
            !parts.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." })
        else {
            throw ZipFailure(
                .refused, "the name '\(name.prefix(100))' in the archive leads out of its folder, or is no file's")
        }
    }

    /// Checks that each entry's local header agrees with the directory, and that entries do not overlap.
    private func readHeaders(before listStart: Int) throws {
        var end = 0
        let order = entries.indices.sorted { entries[$0].offset < entries[$1].offset }
        for index in order {
            let entry = entries[index]
            guard entry.offset >= end, entry.offset + ZipFormat.localLength <= listStart else {
                throw ZipFailure(.refused, "'\(entry.name)' shares its bytes with another file of the archive")
            }
            let header = ZipFields(bytes: try bytes(at: entry.offset, count: ZipFormat.localLength))
            let nameLength = Int(try header.short(26))
            let start = entry.offset + ZipFormat.localLength + nameLength + Int(try header.short(28))
            guard try header.long(0) == ZipFormat.localSignature, start + entry.compressedSize <= listStart,
                try header.short(8) == entry.method
            else { throw ZipFailure(.damaged, "the header of '\(entry.name)' is damaged") }
            let name = ZipFields(bytes: try bytes(at: entry.offset + ZipFormat.localLength, count: nameLength))
            guard try name.text(0, count: nameLength) == entry.name else {
                throw ZipFailure(.refused, "'\(entry.name)' has another name before its bytes")
            }
            if try header.short(6) & ZipFormat.hasDescriptor == 0 {
                guard try header.long(14) == entry.crc, Int(try header.long(18)) == entry.compressedSize,
                    Int(try header.long(22)) == entry.size
                else { throw ZipFailure(.damaged, "sizes of '\(entry.name)' contradict each other") }
            }
            entries[index].start = start
            end = start + entry.compressedSize
        }
    }

    private func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        guard offset >= 0, count >= 0, offset + count <= fileSize else {
            throw ZipFailure(.damaged, "the archive ends too early")
        }
        try handle.seek(toOffset: UInt64(offset))
        let data = count == 0 ? Data() : try handle.read(upToCount: count) ?? Data()
        guard data.count == count else { throw ZipFailure(.damaged, "the archive ends too early") }
        return Array(data)
    }

    // MARK: Files

    /// Decompresses an entry in portions.
    ///
    /// - Parameter output: called with each portion; an error that it throws stops the read.
    /// - Throws: ``ZipFailure`` if the size or the checksum is wrong.
    package func read(_ entry: Entry, _ output: (ArraySlice<UInt8>) throws -> Void) throws {
        var (crc, size) = (CRC32(), 0)
        func take(_ part: ArraySlice<UInt8>) throws {
            size += part.count
            guard size <= entry.size else {
                throw ZipFailure(.refused, "'\(entry.name)' holds more bytes than it says")
            }
            crc.add(part)
            try output(part)
        }
        let stream = entry.method == ZipFormat.deflated ? try InflateStream() : nil
        var done = 0
        while done < entry.compressedSize {
            let part = try bytes(at: entry.start + done, count: min(1 << 18, entry.compressedSize - done))
            done += part.count
            guard let stream else {
                try take(part[...])
                continue
            }
            let left = try stream.add(part, take)
            guard left == 0 || !stream.isAtEnd, !stream.isAtEnd || done == entry.compressedSize else {
                throw ZipFailure(.damaged, "bytes follow the end of '\(entry.name)'")
            }
        }
        guard size == entry.size, stream?.isAtEnd ?? true, crc.value == entry.crc else {
            throw ZipFailure(.damaged, "the checksum of '\(entry.name)' is wrong: the archive is damaged")
        }
    }

    /// Writes an entry to a new file, which must not exist.
    package func extract(_ entry: Entry, to file: URL, progress: (Int) throws -> Void = { _ in }) throws {
        guard !FileManager.default.fileExists(atPath: file.path),
            FileManager.default.createFile(atPath: file.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw ZipFailure(.file, "no file can be made at '\(file.path)'") }
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try read(entry) { part in
            try handle.write(contentsOf: Data(part))
            try progress(part.count)
        }
        try handle.synchronize()
    }

    /// Returns the content of a small entry.
    package func data(of entry: Entry, limit: Int) throws -> Data {
        guard entry.size <= limit else { throw ZipFailure(.refused, "'\(entry.name)' is larger than \(limit) bytes") }
        var data = Data()
        try read(entry) { data.append(contentsOf: $0) }
        return data
    }
}
