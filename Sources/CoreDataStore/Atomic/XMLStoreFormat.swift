import CoreDataModel
import CoreDataPrimitives
import CoreDataXML
import Foundation

/// The format of Apple's XML stores.
///
/// ```xml
///  <database>
///      <databaseInfo> version, UUID, the highest id, metadata </databaseInfo>
///      <object type="BOOK" id="z102">
///          <attribute name="title" type="string">Emma</attribute>
///          <relationship name="author" type="0/1" destination="AUTHOR" idrefs="z103"></relationship>
///      </object>
///  </database>
/// ```
/// The number in an object's id is its row's key, so that ids are unique in the whole file. This framework extends
/// Apple's format in two cases that it does not support. Text with characters that XML does not allow is written as
/// `encoding="base64"`. An object with the same number as one of another hierarchy has its hierarchy's name after the
/// number (`z7.TAG`).
package enum XMLStoreFormat: AtomicFormat {
    package static let kind = AtomicFileKind.xml
    package static let sharesKeys = true
    /// The number before the first one that Apple's stores assign.
    package static let keyBeforeFirst: Int64 = 101

    package static func check(_ model: CompiledModel, entities: [Int]) throws { _ = try XMLNames(model, entities) }

    package static func metadata(in data: Data, path: String) throws -> MetadataRow {
        if let other = otherKind(data, path: path) { throw other }
        let utf8 = try utf8(data, path)
        return try XMLStoreHead.read(utf8, path: path).row
    }

    package static func contents(
        in data: Data, model: CompiledModel, entities: [Int], path: String
    ) throws -> MemoryContents {
        if let other = otherKind(data, path: path) { throw other }
        let utf8 = try utf8(data, path)
        let head = try XMLStoreHead.read(utf8, path: path)
        var contents = MemoryContents(model: model, identifier: head.row.identifier)
        contents.metadata = head.row.metadata
        var reader = try XMLRowReader(model: model, entities: entities, path: path)
        let highest = try reader.read(utf8, into: &contents.graph)
        contents.lastKeys[-1] = max(head.lastKey, highest, keyBeforeFirst)
        return contents
    }

    package static func salvage(
        _ data: Data, model: CompiledModel, entities: [Int], path: String
    ) throws -> (MemoryContents, notes: [String]) {
        if let other = otherKind(data, path: path) { throw other }
        let utf8 = try utf8(data, path)
        var contents = MemoryContents(model: model)
        var reader = try XMLRowReader(model: model, entities: entities, path: path)
        let notes = reader.salvage(utf8, into: &contents.graph)
        let known = (try? XMLStoreHead.read(utf8, path: path))?.lastKey ?? 0
        contents.lastKeys[-1] = max(known, contents.graph.highestKey, keyBeforeFirst)
        return (contents, notes)
    }

    package static func write(_ contents: MemoryContents, entities: [Int], to writer: AtomicFileWriter) throws {
        let names = try XMLNames(contents.graph.model, entities)
        let last = max(contents.lastKeys.values.max() ?? 0, contents.graph.highestKey, keyBeforeFirst)
        let row = MetadataRow(identifier: contents.identifier, metadata: contents.metadata)
        try XMLStoreHead(row: row, lastKey: last).write(to: writer)
        try XMLRowWriter(contents.graph, names).write(to: writer)
        try writer.write("</database>")
    }

    package static func write(
        _ metadata: MetadataRow, replacingThoseIn data: Data, path: String, to writer: AtomicFileWriter
    ) throws {
        let utf8 = try utf8(data, path)
        var head = try XMLStoreHead.read(utf8, path: path)
        guard let end = utf8.range(of: Data("</databaseInfo>".utf8))?.upperBound else {
            throw damaged(path, "<databaseInfo> has no end")
        }
        head.row = metadata
        try head.write(to: writer)
        // The rest of the file is unchanged; the head ends with a line break.
        var rest = utf8[end...]
        if rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
        try writer.write(Data(rest))
    }

    private static func utf8(_ data: Data, _ path: String) throws -> Data {
        do { return Data(try XMLText.utf8(data)) } catch { throw failure(error, path) }
    }

    static func failure(_ failure: XMLFailure, _ path: String) -> StoreFailure {
        damaged(path, "line \(failure.line): \(failure.message)")
    }
}

/// The names of entities and properties in an XML store: entities in capitals, properties in lower case.
struct XMLNames {
    let model: CompiledModel
    /// The entity names by ordinal.
    private(set) var name: [Int: String] = [:]
    private(set) var entity: [String: Int] = [:]
    /// By ordinal: slots by property name.
    private(set) var slot: [Int: [String: Int]] = [:]

    /// - Throws: ``StoreFailure`` if two names would be equal.
    init(_ model: CompiledModel, _ entities: [Int]) throws {
        self.model = model
        for ordinal in entities {
            let compiled = model.entities[ordinal]
            let name = compiled.name.uppercased()
            if let other = entity.updateValue(ordinal, forKey: name) {
                throw StoreFailure(
                    .unsupportedModel,
                    "The entities '\(model.entities[other].name)' and '\(compiled.name)' are both called \(name) in an XML store: rename one, or keep them in stores of another type.",
                    entity: compiled.name)
            }
            self.name[ordinal] = name
            slot[ordinal] = try Self.slots(of: compiled)
        }
    }

    private static func slots(of entity: CompiledEntity) throws -> [String: Int] {
        var slots: [String: Int] = [:]
        for property in entity.properties where isWritten(property) {
            if let other = slots.updateValue(property.slot, forKey: property.name.lowercased()) {
                throw StoreFailure(
                    .unsupportedModel,
                    "The properties '\(entity.properties[other].name)' and '\(property.name)' of entity '\(entity.name)' have one name in an XML store, where capitals do not count: rename one, or use a store of another type.",
                    entity: entity.name, property: property.name)
            }
        }
        return slots
    }

    static func isWritten(_ property: CompiledProperty) -> Bool {
        if case .fetched = property.kind { return false }
        return !property.isTransient
    }
}

/// The part of an XML store before its objects.
struct XMLStoreHead {
    var row: MetadataRow
    /// The highest id that was assigned.
    var lastKey: Int64

    /// The version that current stores of Apple's framework have.
    private static let version = 134_481_920

    // MARK: Reading

    static func read(_ data: Data, path: String) throws -> XMLStoreHead {
        do { return try parse(data, path) } catch let failure as XMLFailure {
            throw XMLStoreFormat.failure(failure, path)
        }
    }

    private static func parse(_ data: Data, _ path: String) throws -> XMLStoreHead {
        let reader = try XMLReader(data, isUTF8: true)
        var names: [String] = []
        var texts: [String: String] = [:]
        var metadata: StoreMetadata?
        reading: while let event = try reader.next() {
            switch event {
            case .start(let tag):
                names.append(tag.name)
                if names.count == 1, tag.name != "database" {
                    throw StoreFailure(
                        .notAStore,
                        "The file '\(path)' is no XML store: its outermost element is <\(tag.name)>, not <database>.")
                }
                // The head precedes the objects.
                if names == ["database", "object"] { break reading }
                if names == ["database", "databaseInfo", "metadata", "plist"] {
                    metadata = try self.metadata(in: data, from: tag, path)
                }
            case .text(let text):
                if names.count == 3 { texts[names[2], default: ""] += text }
            case .end:
                if names == ["database", "databaseInfo"] { break reading }
                names.removeLast()
            case .comment: break
            }
        }
        func text(_ name: String) -> String? { texts[name]?.trimmingCharacters(in: .whitespacesAndNewlines) }
        guard let identifier = text("UUID"), !identifier.isEmpty else {
            throw XMLStoreFormat.damaged(path, "<databaseInfo> has no <UUID>")
        }
        let lastKey = text("nextObjectID").flatMap { Int64($0) } ?? 0
        return XMLStoreHead(
            row: MetadataRow(identifier: identifier, metadata: metadata ?? StoreMetadata(propertyList: Data())),
            lastKey: lastKey)
    }

    private static func metadata(in data: Data, from tag: XMLTag, _ path: String) throws -> StoreMetadata {
        let start = data.startIndex + tag.offset
        guard let end = data.range(of: Data("</plist>".utf8), in: start..<data.endIndex) else {
            throw XMLStoreFormat.damaged(path, "line \(tag.line): <plist> has no end")
        }
        let list = Data(data[start..<end.upperBound])
        do {
            _ = try PropertyListValue(propertyList: list)
            var dictionary = StoreMetadata(propertyList: list).dictionary
            dictionary[StoreMetadata.Key.type] = XMLStoreFormat.storeType
            return try StoreMetadata(dictionary: dictionary)
        } catch {
            throw XMLStoreFormat.damaged(path, "line \(tag.line): the metadata are no property list")
        }
    }

    // MARK: Writing

    func write(to writer: AtomicFileWriter) throws {
        var dictionary = row.metadata.dictionary
        // The file's kind and the element contain them.
        for key in [StoreMetadata.Key.type, StoreMetadata.Key.identifier] { dictionary[key] = nil }
        let list = try PropertyListValue(propertyList: StoreMetadata(dictionary: dictionary).propertyList)
        var text = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>\(Self.version)</version>
                    <UUID>\(XMLEscaping.text(row.identifier))</UUID>
                    <nextObjectID>\(lastKey)</nextObjectID>
                    <metadata>
                        <plist version="1.0">

            """
        try Self.append(list, to: &text, depth: 4, listDepth: 0)
        text += """
                        </plist>
                    </metadata>
                </databaseInfo>

            """
        try writer.write(text)
    }

    private static func append(_ value: PropertyListValue, to text: inout String, depth: Int, listDepth: Int) throws {
        let indent = String(repeating: "    ", count: depth)
        func line(_ name: String, _ content: String) { text += "\(indent)<\(name)>\(content)</\(name)>\n" }
        switch value {
        case .bool(let value): line(value ? "true" : "false", "")
        case .integer(let value): line("integer", "\(value)")
        case .real(let value): line("real", "\(value)")
        case .date(let seconds):
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            line("date", date.formatted(.iso8601))
        case .string(let string): line("string", try escaped(string))
        case .data(let data):
            let tabs = String(repeating: "\t", count: listDepth)
            let digits = data.base64EncodedString()
            let width = max(20, 76 - 8 * listDepth)
            var lines = ""
            var rest = digits[...]
            while !rest.isEmpty {
                lines += "\(tabs)\(rest.prefix(width))\n"
                rest = rest.dropFirst(width)
            }
            text += "\(indent)<data>\n\(lines)\(tabs)</data>\n"
        case .uid(let number):
            throw StoreFailure(
                .unsupportedModel, "The metadata have a reference (\(number)) that no property list in XML has.")
        case .array(let elements):
            text += "\(indent)<array>\n"
            for element in elements { try append(element, to: &text, depth: depth + 1, listDepth: listDepth + 1) }
            text += "\(indent)</array>\n"
        case .dictionary(let entries):
            text += "\(indent)<dict>\n"
            for (key, value) in entries.sorted(by: { $0.key < $1.key }) {
                text += "\(indent)    <key>\(try escaped(key))</key>\n"
                try append(value, to: &text, depth: depth + 1, listDepth: listDepth + 1)
            }
            text += "\(indent)</dict>\n"
        }
    }

    private static func escaped(_ string: String) throws -> String {
        guard !XMLEscaping.needsBase64(string) else {
            throw StoreFailure(
                .unsupportedModel, "The metadata have a text with characters that XML cannot have: keep it as Data.")
        }
        return XMLEscaping.text(string)
    }
}

/// Escapes text for XML.
enum XMLEscaping {
    static func text(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0x26 || $0 == 0x3C || $0 == 0x3E || $0 == 0x0D }) else { return text }
        return TextEscapes.replacing(in: text) { scalar in
            switch scalar {
            // A parser would convert it to a line feed.
            case "\r": "&#13;"
            case "\"": nil
            default: TextEscapes.markup(scalar)
            }
        }
    }

    /// Returns whether the text has characters that XML does not allow even as references.
    static func needsBase64(_ text: String) -> Bool {
        // The multi-byte characters that XML does not allow start with EF BF.
        guard text.utf8.contains(where: { $0 < 0x20 && $0 != 9 && $0 != 10 && $0 != 13 || $0 == 0xEF }) else {
            return false
        }
        return text.unicodeScalars.contains {
            $0.value < 0x20 && ![9, 10, 13].contains($0.value) || $0.value == 0xFFFE || $0.value == 0xFFFF
        }
    }
}
