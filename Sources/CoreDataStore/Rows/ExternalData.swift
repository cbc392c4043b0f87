import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// The storage of attributes with external storage: rows in memory contain the plain bytes; the store's column contains
/// an envelope.
///
/// ```
///  01 | bytes                      the bytes themselves
///  02 | 36 ASCII characters | 00   the name of a file in the folder, which holds the bytes
///  anything else                   the bytes, as written before the attribute allowed external storage
/// ```
package struct ExternalData: Sendable {
    /// The size from which bytes are stored in a file.
    package static let fileThreshold = 100 << 10

    let storePath: String?

    /// - Parameter storePath: `nil` for a store in memory, which stores all bytes inline.
    package init(storePath: String?) { self.storePath = storePath }

    /// The folder `.Shop_SUPPORT/_EXTERNAL_DATA` next to `Shop.sqlite`.
    ///
    /// It is computed on demand: parsing a path costs as much as a small save.
    package var folder: String? {
        guard let storePath else { return nil }
        let store = URL(fileURLWithPath: storePath)
        let name = ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"
        return store.deletingLastPathComponent().path + "/\(name)/_EXTERNAL_DATA"
    }

    // MARK: Reading

    /// Sets a column to the bytes of a stored value.
    ///
    /// - Throws: ``ExternalDataFailure`` if its file cannot be read.
    func read(_ stored: UnsafeRawBufferPointer, into builder: RowBuilder, at column: Int) throws {
        if let name = Self.fileName(stored) {
            builder.setData(try contents(of: name), at: column)
        } else {
            builder.setBytes(Self.inline(stored), at: column)
        }
    }

    /// Returns the bytes of an inline value.
    private static func inline(_ stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        stored.first == Mark.inline ? UnsafeRawBufferPointer(rebasing: stored.dropFirst()) : stored
    }

    /// Returns the bytes of a stored value.
    ///
    /// - Throws: ``ExternalDataFailure`` if its file cannot be read.
    package func data(of stored: UnsafeRawBufferPointer) throws -> Data {
        try Self.fileName(stored).map { try contents(of: $0) } ?? Data(Self.inline(stored))
    }

    private func contents(of name: String) throws -> Data {
        guard let path = path(of: name) else {
            throw ExternalDataFailure(.missing, file: name, reason: "a store in memory has no files")
        }
        do {
            return try HeldBytes.contents(ofFile: path)
        } catch {
            // A file of an older row version, see FormerFiles.
            if let formerFolder, let data = try? HeldBytes.contents(ofFile: "\(formerFolder)/\(name)") {
                return data
            }
            let isThere = FileManager.default.fileExists(atPath: path)
            throw ExternalDataFailure(isThere ? .unreadable : .missing, file: path, reason: error.localizedDescription)
        }
    }

    func path(of name: String) -> String? { folder.map { "\($0)/\(name)" } }

    /// Returns the file name in a stored value; `nil` for an inline value.
    ///
    /// Only a UUID is accepted as a name, so that no value can refer to another folder.
    static func fileName(_ stored: UnsafeRawBufferPointer) -> String? {
        guard stored.count == 38, stored[0] == Mark.file, stored[37] == 0 else { return nil }
        let name = String(decoding: stored[1..<37], as: UTF8.self)
        return UUID(uuidString: name) == nil ? nil : name
    }

    /// The first bytes of an envelope.
    enum Mark {
        static let inline: UInt8 = 1
        static let file: UInt8 = 2
    }
}

/// An external data file that cannot be read or written.
package struct ExternalDataFailure: EngineFailure, Sendable {
    package enum Kind: Sendable {
        /// There is no such file.
        case missing
        case unreadable
        /// Permissions or the file system forbid writing.
        case readOnly
        /// There is no space left.
        case full
        case unwritable
    }

    package var kind: Kind
    package var file: String
    package var reason: String

    package var message: String { "The external data file '\(file)' is not accessible: \(reason)." }

    package init(_ kind: Kind, file: String, reason: String) {
        self.kind = kind
        self.file = file
        // Foundation's reasons end with a full stop.
        self.reason = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
    }
}

extension CompiledEntity {
    /// The row's columns whose values are stored as ``ExternalData``.
    package var externalDataColumns: [Int] {
        properties.compactMap { property in
            guard let attribute = property.attribute, attribute.allowsExternalBinaryDataStorage else { return nil }
            let column = rowLayout.columnOfSlot[property.slot]
            return column >= 0 && rowLayout.kinds[column] == .blob ? column : nil
        }
    }
}
