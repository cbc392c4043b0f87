import CoreDataModel
import CoreDataPrimitives
import CoreDataSQL
import Foundation

/// How the bytes of attributes with external storage are kept: rows in memory hold the plain
/// bytes, the store's column an envelope.
///
/// ```
///  01 | bytes                      the bytes themselves
///  02 | 36 ASCII characters | 00   the name of a file in the folder, which holds the bytes
///  anything else                   the bytes, as written before the attribute allowed external storage
/// ```
package struct ExternalData: Sendable {
    /// Bytes from this number on go into a file.
    package static let fileThreshold = 100 << 10

    let storePath: String?

    /// - Parameter storePath: `nil` for a store in memory, which keeps all bytes inline.
    package init(storePath: String?) { self.storePath = storePath }

    /// `.Shop_SUPPORT/_EXTERNAL_DATA` beside `Shop.sqlite`.
    ///
    /// Found when it is needed: to take a path apart costs as much as a small save.
    package var folder: String? {
        guard let storePath else { return nil }
        let store = URL(fileURLWithPath: storePath)
        let name = ".\(store.deletingPathExtension().lastPathComponent)_SUPPORT"
        return store.deletingLastPathComponent().path + "/\(name)/_EXTERNAL_DATA"
    }

    // MARK: Reading

    /// Sets a column to the bytes that a stored value stands for.
    ///
    /// - Throws: ``ExternalDataFailure`` when the file that it names cannot be read.
    func read(_ stored: UnsafeRawBufferPointer, into builder: RowBuilder, at column: Int) throws {
        if let name = Self.fileName(stored) {
            builder.setData(try contents(of: name), at: column)
        } else {
            builder.setBytes(Self.inline(stored), at: column)
        }
    }

    /// The bytes of a stored value that holds them.
    private static func inline(_ stored: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        stored.first == Mark.inline ? UnsafeRawBufferPointer(rebasing: stored.dropFirst()) : stored
    }

    /// The bytes that a stored value stands for.
    ///
    /// - Throws: ``ExternalDataFailure`` when the file that it names cannot be read.
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
            // Of a former state, see FormerFiles.
            if let formerFolder, let data = try? HeldBytes.contents(ofFile: "\(formerFolder)/\(name)") {
                return data
            }
            let isThere = FileManager.default.fileExists(atPath: path)
            throw ExternalDataFailure(isThere ? .unreadable : .missing, file: path, reason: error.localizedDescription)
        }
    }

    func path(of name: String) -> String? { folder.map { "\($0)/\(name)" } }

    /// The name of the file that a stored value refers to, `nil` for one that holds its bytes.
    ///
    /// Only what is a UUID is taken for a name, so that no value can lead to another folder.
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

/// A file of external data that cannot be read or written.
package struct ExternalDataFailure: EngineFailure, Sendable {
    package enum Kind: Sendable {
        /// There is no such file.
        case missing
        case unreadable
        /// Permissions, or the file system, forbid to write.
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
        // Foundation's reasons are sentences.
        self.reason = reason.hasSuffix(".") ? String(reason.dropLast()) : reason
    }
}

extension CompiledEntity {
    /// The row's columns whose values are kept as ``ExternalData`` has them.
    package var externalDataColumns: [Int] {
        properties.compactMap { property in
            guard let attribute = property.attribute, attribute.allowsExternalBinaryDataStorage else { return nil }
            let column = rowLayout.columnOfSlot[property.slot]
            return column >= 0 && rowLayout.kinds[column] == .blob ? column : nil
        }
    }
}

extension StoreEngine {
    package var externalData: ExternalData { ExternalData(storePath: path) }

    package func bytes(ofStored stored: UnsafeRawBufferPointer) throws -> Data { try externalData.data(of: stored) }

    package func key(ofRowStoring stored: Data, slot: Int, entity: Int) -> RowKey? {
        let compiled = model.entities[entity]
        guard let bound = layout.entities[entity], compiled.rowLayout.columnOfSlot[slot] >= 0,
            let column = bound.columnNames[compiled.rowLayout.columnOfSlot[slot]]
        else { return nil }
        var select = SelectStatement(
            [.init(.column(nil, "Z_PK")), .init(.column(nil, "Z_ENT"))], from: .init(bound.table, as: bound.table))
        select.condition = .comparison(.equal, .column(nil, column), .bind(.blob(stored)))
        return (try? query(select) { key($0, at: 0, of: entity) })?.first
    }
}
