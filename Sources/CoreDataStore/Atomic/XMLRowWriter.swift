import CoreDataModel
import CoreDataPrimitives
import Foundation

/// Writes the objects of an XML store, sorted by id.
struct XMLRowWriter {
    private let graph: MemoryGraph
    private let names: XMLNames
    /// Keys that rows of several hierarchies have, with the hierarchy whose ids consist of the number alone.
    private var owners: [Int64: Int] = [:]
    private let forms: [Int: Form]

    /// The common parts of an entity's objects.
    private struct Form {
        var start: String
        /// Attributes, with the text before their values.
        var attributes: [(column: Int, kind: ValueKind, start: String)] = []
        var toOnes: [(column: Int, root: Int, start: String)] = []
        var toManys: [(slot: Int, start: String)] = []
    }

    init(_ graph: MemoryGraph, _ names: XMLNames) {
        self.graph = graph
        self.names = names
        forms = names.name.mapValues { Form(start: "    <object type=\"\($0)\" id=\"") }.reduce(into: [:]) {
            forms, form in
            forms[form.key] = Self.form(form.value, names.model.entities[form.key], names)
        }
        let roots = graph.roots
        guard roots.count > 1 else { return }
        var seen: [Int64: Int] = [:]
        for root in roots {
            for row in graph.rows(root: root) {
                if let other = seen[row.primaryKey] {
                    owners[row.primaryKey] = other
                } else {
                    seen[row.primaryKey] = root
                }
            }
        }
    }

    private static func form(_ form: Form, _ entity: CompiledEntity, _ names: XMLNames) -> Form {
        var form = form
        let layout = entity.rowLayout
        for property in entity.properties.reversed() where XMLNames.isWritten(property) {
            guard let attribute = property.attribute else { continue }
            form.attributes.append(
                (
                    layout.columnOfSlot[property.slot], attribute.type.kind,
                    "        <attribute name=\"\(property.name.lowercased())\" type=\"\(attribute.type.traits.storeName)\""
                ))
        }
        for property in entity.properties where XMLNames.isWritten(property) {
            guard let relationship = property.relationship else { continue }
            let destination = names.model.entities[relationship.destination]
            let start =
                "        <relationship name=\"\(property.name.lowercased())\" type=\"\(relationship.minCount)/\(relationship.maxCount)\" destination=\"\(destination.name.uppercased())\""
            if relationship.isToMany {
                form.toManys.append((property.slot, start))
            } else {
                form.toOnes.append((layout.columnOfSlot[property.slot], destination.root, start))
            }
        }
        return form
    }

    func write(to writer: AtomicFileWriter) throws {
        var rows: [(key: Int64, root: Int, row: RowSnapshot)] = []
        for root in graph.roots {
            for row in graph.rows(root: root) { rows.append((row.primaryKey, root, row)) }
        }
        rows.sort { ($0.key, $0.root) < ($1.key, $1.root) }
        var text = ""
        for (key, root, row) in rows {
            guard let form = forms[row.entity] else { continue }
            text.removeAll(keepingCapacity: true)
            text += form.start
            text += id(key, root)
            text += "\">\n"
            for attribute in form.attributes where !row.isNull(attribute.column) {
                append(row, attribute.column, attribute.kind, attribute.start, to: &text)
            }
            for toOne in form.toOnes {
                append(row.isNull(toOne.column) ? [] : [row.integer(toOne.column)], toOne.root, toOne.start, to: &text)
            }
            for toMany in form.toManys {
                let members = graph.memberKeys(of: key, entity: row.entity, slot: toMany.slot)
                append(members.keys, members.root, toMany.start, to: &text)
            }
            text += "    </object>\n"
            try writer.write(text)
        }
    }

    private func id(_ key: Int64, _ root: Int) -> String {
        guard let owner = owners[key], owner != root else { return "z\(key)" }
        return "z\(key).\(names.model.entities[root].name.uppercased())"
    }

    private func append(_ keys: [Int64], _ root: Int, _ start: String, to text: inout String) {
        text += start
        if !keys.isEmpty {
            text += " idrefs=\""
            for (index, key) in keys.enumerated() {
                if index > 0 { text += " " }
                text += id(key, root)
            }
            text += "\""
        }
        text += "></relationship>\n"
    }

    private func append(
        _ row: RowSnapshot, _ column: Int, _ kind: ValueKind, _ start: String, to text: inout String
    ) {
        text += start
        switch kind {
        case .boolean: text += row.integer(column) == 0 ? ">0" : ">1"
        case .integer, .reference: text += ">\(row.integer(column))"
        case .real, .single: text += ">\(row.real(column))"
        case .date: text += ">\(Self.date(row.real(column)))"
        case .decimal: text += ">\(row.text(column))"
        case .text, .link:
            let string = row.text(column)
            if XMLEscaping.needsBase64(string) {
                text += " encoding=\"base64\">\(Data(string.utf8).base64EncodedString())"
            } else {
                text += ">\(XMLEscaping.text(string))"
            }
        case .identifier: text += ">" + (row.withBytes(column) { UUID(bytes: $0) }?.uuidString ?? "")
        case .bytes, .object, .composite:
            text += ">"
            row.withBytes(column) { Self.append(Data($0).base64EncodedString(), to: &text) }
        }
        text += "</attribute>\n"
    }

    /// Writes a line of 76 digits, then all others on a second line, as in Apple's stores.
    private static func append(_ digits: String, to text: inout String) {
        guard digits.utf8.count > 76 else {
            text += digits
            if !digits.isEmpty { text += "\n" }
            return
        }
        text += digits.prefix(76)
        text += "\n"
        text += digits.dropFirst(76)
        text += "\n"
    }

    /// Returns the date with 20 decimal places, as Apple writes it, unless that is another number.
    private static func date(_ seconds: Double) -> String {
        let text = String(format: "%.20f", seconds)
        return Double(text) == seconds ? text : "\(seconds)"
    }
}

extension MemoryGraph {
    /// Returns the keys of a to-many's members, also of missing rows, in the relationship's order, else by key, and the
    /// root entity of the keys.
    func memberKeys(of owner: Int64, entity: Int, slot: Int) -> (keys: [Int64], root: Int) {
        let relationship = model.entities[entity].properties[slot].relationship
        let root = relationship.map { model.entities[$0.destination].root } ?? entity
        return (
            pairedKeys(of: owner, entity: entity, slot: slot)
                ?? members(of: owner, entity: entity, slot: slot).map(\.primaryKey), root
        )
    }
}
