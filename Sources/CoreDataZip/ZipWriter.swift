import Foundation

/// Writes a zip archive entry by entry, reading files in portions.
///
///     let writer = try ZipWriter(to: url)
///     try writer.add(file, as: "store.sqlite")
///     try writer.finish()
///
/// Sizes and checksums are written before the bytes, so that every reader supports the archive.
package final class ZipWriter {
    private struct Entry {
        let name: String
        let method: UInt16
        let crc: UInt32
        let compressed: UInt32
        let size: UInt32
        let offset: UInt32
        let time: (UInt16, UInt16)
    }

    private let handle: FileHandle
    private var entries: [Entry] = []
    private var offset = 0
    private let time: (UInt16, UInt16)

    /// - Throws: ``ZipFailure`` if the file exists or cannot be made.
    package init(to url: URL, date: Date = Date()) throws {
        guard !FileManager.default.fileExists(atPath: url.path) else {
            throw ZipFailure(.file, "there is a file at '\(url.path)' already")
        }
        guard
            FileManager.default.createFile(
                atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600])
        else { throw ZipFailure(.file, "no file can be made at '\(url.path)'") }
        handle = try FileHandle(forUpdating: url)
        time = Self.time(of: date)
    }

    deinit { try? handle.close() }

    /// - Parameter progress: called with the number of bytes read; an error that it throws stops the writer.
    package func add(_ file: URL, as name: String, progress: (Int) throws -> Void = { _ in }) throws {
        let source = try FileHandle(forReadingFrom: file)
        defer { try? source.close() }
        try add(name, progress: progress, next: { try source.read(upToCount: 1 << 18).map(Array.init) ?? [] })
    }

    package func add(_ data: Data, as name: String) throws {
        var rest: [UInt8]? = Array(data)
        try add(
            name, progress: { _ in },
            next: {
                defer { rest = nil }
                return rest ?? []
            })
    }

    /// - Parameter next: returns the next bytes; an empty array at the end.
    private func add(_ name: String, progress: (Int) throws -> Void, next: () throws -> [UInt8]) throws {
        guard entries.count < ZipFormat.mostEntries else {
            throw ZipFailure(.unsupported, "more than \(ZipFormat.mostEntries) files in one archive")
        }
        let start = offset
        guard start <= ZipFormat.largest else { throw tooLarge(name) }
        try write(header(name, crc: 0, compressed: 0, size: 0))
        let stream = try DeflateStream()
        var (crc, size, compressed) = (CRC32(), 0, 0)
        while true {
            let bytes = try next()
            crc.add(bytes[...])
            size += bytes.count
            try stream.add(bytes, isLast: bytes.isEmpty) { part in
                compressed += part.count
                try write(Array(part))
            }
            guard size <= ZipFormat.largest, compressed <= ZipFormat.largest else { throw tooLarge(name) }
            if bytes.isEmpty { break }
            try progress(bytes.count)
        }
        let entry = Entry(
            name: name, method: ZipFormat.deflated, crc: crc.value, compressed: UInt32(compressed),
            size: UInt32(size), offset: UInt32(start), time: time)
        try handle.seek(toOffset: UInt64(start))
        try handle.write(
            contentsOf: Data(header(name, crc: entry.crc, compressed: entry.compressed, size: entry.size)))
        try handle.seek(toOffset: UInt64(offset))
        entries.append(entry)
    }

    private func tooLarge(_ name: String) -> ZipFailure {
        ZipFailure(.unsupported, "'\(name)' makes the archive larger than 4 GB, which it cannot be")
    }

    /// Writes the central directory, and flushes the file to disk.
    package func finish() throws {
        let start = offset
        guard start <= ZipFormat.largest else { throw tooLarge("the list of files") }
        for entry in entries { try write(central(entry)) }
        var end = ZipBytes()
        end.add(ZipFormat.endSignature)
        end.add(UInt16(0))
        end.add(UInt16(0))
        end.add(UInt16(entries.count))
        end.add(UInt16(entries.count))
        end.add(UInt32(offset - start))
        end.add(UInt32(start))
        end.add(UInt16(0))
        try write(end.bytes)
        try handle.synchronize()
        try handle.close()
    }

    private func write(_ bytes: [UInt8]) throws {
        try handle.write(contentsOf: Data(bytes))
        offset += bytes.count
    }

    private func header(_ name: String, crc: UInt32, compressed: UInt32, size: UInt32) -> [UInt8] {
        var bytes = ZipBytes()
        bytes.add(ZipFormat.localSignature)
        bytes.add(UInt16(20))
        bytes.add(ZipFormat.isUTF8)
        bytes.add(ZipFormat.deflated)
        bytes.add(time.0)
        bytes.add(time.1)
        bytes.add(crc)
        bytes.add(compressed)
        bytes.add(size)
        bytes.add(UInt16(name.utf8.count))
        bytes.add(UInt16(0))
        bytes.add(name)
        return bytes.bytes
    }

    private func central(_ entry: Entry) -> [UInt8] {
        var bytes = ZipBytes()
        bytes.add(ZipFormat.centralSignature)
        // "Made on Unix", so that readers apply the permissions below.
        bytes.add(UInt16(3 << 8 | 20))
        bytes.add(UInt16(20))
        bytes.add(ZipFormat.isUTF8)
        bytes.add(entry.method)
        bytes.add(entry.time.0)
        bytes.add(entry.time.1)
        bytes.add(entry.crc)
        bytes.add(entry.compressed)
        bytes.add(entry.size)
        bytes.add(UInt16(entry.name.utf8.count))
        for _ in 0..<4 { bytes.add(UInt16(0)) }
        bytes.add(UInt32(0o100600) << 16)
        bytes.add(entry.offset)
        bytes.add(entry.name)
        return bytes.bytes
    }

    /// Converts the date to MS-DOS format, in UTC, from 1980 on.
    private static func time(of date: Date) -> (UInt16, UInt16) {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? calendar.timeZone
        let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
        let year = min(max((parts.year ?? 1980) - 1980, 0), 127)
        let day = year << 9 | (parts.month ?? 1) << 5 | (parts.day ?? 1)
        let time = (parts.hour ?? 0) << 11 | (parts.minute ?? 0) << 5 | (parts.second ?? 0) / 2
        return (UInt16(time), UInt16(day))
    }
}
