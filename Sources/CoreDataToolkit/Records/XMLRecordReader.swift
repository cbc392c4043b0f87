import CoreDataXML
import Foundation

/// Reads the records of an XML file: the children of the root element. The fields of a record are its attributes and
/// child elements. Child elements that contain only text are values; others are objects, as in JSON.
///
///     <items>
///         <item name="Milk" unit="L"/>
///         <item><name>Bread</name><unit><name>kg</name></unit></item>
///     </items>
///
/// If the root has children of several names, the records are those with the entity's name, ignoring case. Without an
/// entity, all children are records, and their names are their entities.
struct XMLRecordReader: RecordReader {
    private let reader: XMLReader
    private let fileName: String
    /// The name of the record elements; `nil` for all.
    private let element: String?
    private var number = 0
    /// The number of open elements.
    private var depth = 0

    /// - Parameter name: the file's name in messages.
    init(_ data: Data, name fileName: String, entity: String?, element: String?) throws {
        self.fileName = fileName
        do {
            let names = try Self.names(in: XMLReader(data))
            self.element = try Self.element(element, for: entity, among: names, of: fileName)
            reader = try XMLReader(data)
        } catch let failure as XMLFailure {
            throw RecordFailure(failure, file: fileName)
        }
    }

    var fractionRead: Double { reader.fractionRead }

    mutating func next() throws -> Record? {
        while let event = try nextEvent() {
            guard case .start(let tag) = event, depth == 2, element.map({ $0 == tag.name }) ?? true else { continue }
            number += 1
            var fields = tag.attributes.map { FieldValue.Field(name: $0.name, value: .text($0.value)) }
            do { try readChildren(of: tag, into: &fields) } catch var failure as RecordFailure {
                failure.number = number
                throw failure
            }
            return Record(
                fields: fields.map { ($0.name, $0.value) }, number: number, line: tag.line,
                entity: element == nil ? tag.name : nil)
        }
        return nil
    }

    private mutating func nextEvent() throws -> XMLEvent? {
        do {
            let event = try reader.next()
            if case .start? = event { depth += 1 }
            if case .end? = event { depth -= 1 }
            return event
        } catch {
            throw RecordFailure(error, file: fileName)
        }
    }

    /// Reads to the end of the record or of an element in it; returns the text outside of child elements.
    @discardableResult
    private mutating func readChildren(of element: XMLTag, into fields: inout [FieldValue.Field]) throws -> String {
        var text = ""
        while let event = try nextEvent() {
            switch event {
            case .start(let tag):
                fields.append(FieldValue.Field(name: tag.name, value: try value(of: tag, in: element)))
            case .text(let part): text += part
            case .end: return text
            case .comment: break
            }
        }
        return text
    }

    /// Returns the text of an element; for one with attributes or child elements, an object.
    private mutating func value(of tag: XMLTag, in element: XMLTag) throws -> FieldValue {
        var fields = tag.attributes.map { FieldValue.Field(name: $0.name, value: .text($0.value)) }
        let text = try readChildren(of: tag, into: &fields)
        if fields.isEmpty { return .text(text) }
        guard text.allSatisfy(\.isWhitespace) else {
            throw RecordFailure(
                file: fileName, line: tag.line, column: tag.column,
                message: "<\(tag.name)> in <\(element.name)> has text beside what is in it, which is not a value",
                isRecoverable: false)
        }
        return .object(fields)
    }

    /// Returns the names of the root's children in order of appearance. It reads, and so validates, the whole file.
    private static func names(in reader: XMLReader) throws(XMLFailure) -> [String] {
        var names: [String] = []
        var depth = 0
        while let event = try reader.next() {
            switch event {
            case .start(let tag):
                depth += 1
                if depth == 2, !names.contains(tag.name) { names.append(tag.name) }
            case .end: depth -= 1
            default: break
            }
        }
        return names
    }

    /// Returns the name of the record elements.
    private static func element(
        _ asked: String?, for entity: String?, among names: [String], of file: String
    ) throws -> String? {
        if let asked {
            guard names.contains(asked) || names.isEmpty else {
                throw ToolkitError("\(file) has no <\(asked)> in its root\(Suggestion.text(for: asked, among: names))")
            }
            return asked
        }
        guard let entity else { return nil }
        if let name = names.first(where: { $0.lowercased() == entity.lowercased() }) { return name }
        guard names.count < 2 else {
            throw ToolkitError(
                "\(file) has several kinds of records: \(names.joined(separator: ", ")); choose the element.")
        }
        return names.first ?? entity
    }
}

extension RecordFailure {
    /// An error for invalid XML, after which the file cannot be read further.
    fileprivate init(_ failure: XMLFailure, file: String) {
        self.init(
            file: file, line: failure.line, column: failure.column, message: failure.message, hint: failure.hint,
            isRecoverable: false)
    }
}
