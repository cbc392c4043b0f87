/// The records of an XML file: the children of the root element. Their attributes are the fields, and so are elements
/// in them that hold nothing but text.
///
///     <items>
///         <item name="Milk" unit="L"/>
///         <item><name>Bread</name></item>
///     </items>
///
/// Where the root has children of several names, those that are named like the entity count, in any case.
struct XMLRecordReader: RecordReader {
    private var scanner: XMLScanner
    private let element: String
    private var number = 0

    init(_ bytes: FileBytes, entity: String, element: String?) throws {
        scanner = try XMLScanner(bytes)
        let names = try Self.names(in: scanner)
        if let element {
            guard names.contains(element) || names.isEmpty else {
                throw ToolFailure(
                    "\(bytes.name) has no <\(element)> in its root\(Suggestion.text(for: element, among: names))")
            }
            self.element = element
        } else if let name = names.first(where: { $0.lowercased() == entity.lowercased() }) ?? names.first,
            names.count < 2 || name.lowercased() == entity.lowercased()
        {
            self.element = name
        } else if names.isEmpty {
            self.element = entity
        } else {
            throw ToolFailure(
                "\(bytes.name) has several kinds of records: \(names.joined(separator: ", ")); choose with --element.")
        }
    }

    var fractionRead: Double { scanner.cursor.fractionRead }

    mutating func next() throws -> Record? {
        while let event = try scanner.next() {
            guard case .start(let name, let attributes, let line) = event, scanner.open.count == 2, name == element
            else { continue }
            number += 1
            var fields = attributes.map { ($0.name, FieldValue.text($0.value)) }
            do {
                try readChildren(into: &fields)
            } catch var failure as RecordFailure {
                failure.number = number
                throw failure
            }
            return Record(fields: fields, number: number, line: line)
        }
        return nil
    }

    /// Reads to the end of the record.
    private mutating func readChildren(into fields: inout [(String, FieldValue)]) throws {
        var child: String?
        var text = ""
        while let event = try scanner.next() {
            switch event {
            case .start(let name, let attributes, let line):
                guard child == nil, attributes.isEmpty else {
                    throw scanner.cursor.failure(
                        "<\(child ?? name)> in <\(element)> has more than text in it, which is not a value", line: line)
                }
                child = name
                text = ""
            case .text(let part): text += part
            case .end:
                guard let name = child else { return }
                fields.append((name, .text(text)))
                child = nil
            }
        }
    }

    /// The names of the root's children, in order of appearance. Reads the whole file, and so checks it too.
    private static func names(in scanner: XMLScanner) throws -> [String] {
        var scanner = scanner
        var names: [String] = []
        while let event = try scanner.next() {
            guard case .start(let name, _, _) = event, scanner.open.count == 2, !names.contains(name) else { continue }
            names.append(name)
        }
        return names
    }
}
