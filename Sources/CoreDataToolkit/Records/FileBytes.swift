import CoreData
import Foundation

/// The bytes of a file as UTF-8. The file is mapped, so that a large one occupies no memory.
package final class FileBytes {
    package let name: String
    package let count: Int
    private let data: NSData
    /// Valid while `data` exists.
    private let start: UnsafeRawPointer

    /// - Parameter path: `-` for standard input.
    package convenience init(path: String, name: String) throws {
        try self.init(Self.contents(path: path, name: name), name: name)
    }

    /// - Parameter data: UTF-8, or UTF-16 with a mark at its start.
    package init(_ data: Data, name: String) throws {
        self.name = name
        self.data = NSData(data: try Self.transcoded(data, name: name))
        start = self.data.bytes
        count = self.data.length
    }

    /// Makes bytes from a text, e.g. in tests.
    package init(_ text: String, name: String) {
        self.name = name
        data = NSData(data: Data(text.utf8))
        start = data.bytes
        count = data.length
    }

    /// Returns the raw bytes of a file, mapped; those of standard input are read.
    package static func contents(path: String, name: String) throws -> Data {
        // Reading a store that this process has open would release its locks.
        guard path == "-" || !StoreTools.isDatabase(path) else {
            throw ToolkitError("Cannot read \(name): it is a database, and no file of records.")
        }
        do {
            return path == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data()
                : try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
        } catch {
            throw ToolkitError("Cannot read \(name): \(reason(error, path: path))")
        }
    }

    /// - Precondition: `index` is less than `count`.
    package subscript(index: Int) -> UInt8 {
        precondition(index >= 0 && index < count, "no such byte")
        return start.load(fromByteOffset: index, as: UInt8.self)
    }

    /// Returns the text of a range; `nil` if it is not valid UTF-8.
    package func text(_ range: Range<Int>) -> String? {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "no such bytes")
        return String(
            validating: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(start: start, count: count)[range]),
            as: UTF8.self)
    }

    private static func reason(_ error: any Error, path: String) -> String {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return "no such file" }
        return isFolder.boolValue ? "it is a folder" : (error as NSError).localizedDescription
    }

    /// Converts UTF-16, which spreadsheets and old tools write, to UTF-8; the byte order mark identifies it.
    private static func transcoded(_ data: Data, name: String) throws -> Data {
        if data.starts(with: [0xEF, 0xBB, 0xBF]) { return data.dropFirst(3) }
        guard data.starts(with: [0xFF, 0xFE]) || data.starts(with: [0xFE, 0xFF]) else { return data }
        guard let text = String(data: data, encoding: .utf16) else {
            throw ToolkitError("\(name) starts as UTF-16, but is not.")
        }
        return Data(text.utf8)
    }
}

/// A position in a file: the next byte, and the line number.
package struct ByteCursor {
    package let bytes: FileBytes
    package private(set) var index = 0
    package private(set) var line = 1
    private let end: Int

    package init(_ bytes: FileBytes) {
        self.bytes = bytes
        end = bytes.count
    }

    /// A cursor on the rest of the current line, as if it were a file.
    package init(restOfLine cursor: ByteCursor) {
        var rest = cursor
        while let byte = rest.peek(), byte != UInt8(ascii: "\n") { rest.advance() }
        bytes = cursor.bytes
        index = cursor.index
        line = cursor.line
        end = rest.index
    }

    package var isAtEnd: Bool { index >= end }

    package var remaining: Int { end - index }

    package var fractionRead: Double { end == 0 ? 1 : Double(index) / Double(end) }

    /// Returns the next byte; `nil` at the end.
    package func peek(_ offset: Int = 0) -> UInt8? {
        index + offset < end ? bytes[index + offset] : nil
    }

    package mutating func advance(_ count: Int = 1) {
        for _ in 0..<count where index < end {
            if bytes[index] == UInt8(ascii: "\n") { line += 1 }
            index += 1
        }
    }

    /// Skips the text if it follows, and returns whether it did.
    package mutating func skip(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        guard index + count <= end else { return false }
        for offset in 0..<count where bytes[index + offset] != text.utf8Start[offset] { return false }
        advance(count)
        return true
    }

    package mutating func skipWhitespace() {
        while let byte = peek(), byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { advance() }
    }

    /// Moves to the next of these bytes or to the end of the file, and returns the text before it.
    package mutating func text(upTo ends: (UInt8) -> Bool) throws -> String {
        let start = index
        let startLine = line
        while let byte = peek(), !ends(byte) { advance() }
        return try text(from: start, line: startLine)
    }

    /// Returns the text from an earlier position to here.
    package func text(from start: Int, line: Int) throws -> String {
        guard let text = bytes.text(start..<index) else {
            throw failure("the text is not UTF-8; convert the file first, e.g. with iconv", line: line)
        }
        return text
    }

    /// Returns a failure at this position, after which the file cannot be read further.
    package func failure(_ message: String, line: Int? = nil, number: Int? = nil) -> RecordFailure {
        RecordFailure(
            file: bytes.name, line: line ?? self.line, number: number, message: message, isRecoverable: false)
    }
}
