import CoreData
import CoreDataModel
import CoreDataPrimitives
import CoreDataStoreTools
import CoreDataToolkit
import Foundation

/// The form of an object: its fields with the values that the user typed, those of the store, and what is wrong.
struct EditForm: Sendable {
    enum Input: Sendable, Equatable {
        case line, text, choice
        /// The IDs of objects, a line each.
        case references
        /// A value that is not shown; it can be removed or kept.
        case bytes(Int)
    }

    struct Field: Sendable {
        var name: String
        var type: String
        var hint: String
        var isOptional: Bool
        var input: Input
        /// The value as text; `nil` for no value.
        var value: String?
        /// The value in the store when the form was made.
        var original: String?
        var problem: String?
        /// The value that another process has written meanwhile, if it differs from ``original``.
        var conflict: String?
    }

    var fields: [Field]
    /// Errors that belong to no field.
    var problems: [String] = []

    var isSound: Bool { problems.isEmpty && fields.allSatisfy { $0.problem == nil && $0.conflict == nil } }

    /// Makes the form of an object.
    init(_ object: NSManagedObject) {
        let columns = GridColumns(object.entity)
        fields = columns.attributes.filter(Self.isEditable).map { Self.field($0, of: object) }
        fields += (columns.toOnes + columns.toManys).map { Self.field($0, of: object) }
    }

    private static func isEditable(_ attribute: NSAttributeDescription) -> Bool {
        !(attribute is NSDerivedAttributeDescription) && attribute.kind != .reference
    }

    private static func field(_ attribute: NSAttributeDescription, of object: NSManagedObject) -> Field {
        let value = object.value(forKey: attribute.name)
        var field = Field(
            name: attribute.name, type: TypeName.text(attribute), hint: hint(attribute),
            isOptional: attribute.isOptional, input: .line)
        switch attribute.kind {
        case .boolean: field.input = .choice
        case .text: field.input = (value as? String).map { $0.count > 80 || $0.contains("\n") } == true ? .text : .line
        case .bytes, .object:
            let bytes = value as? Data
            field.input = .bytes(bytes?.count ?? 0)
            field.value = bytes.map { "\($0.count) bytes" }
            field.original = field.value
            return field
        default: break
        }
        field.value = text(value, of: attribute)
        field.original = field.value
        return field
    }

    private static func field(_ relationship: NSRelationshipDescription, of object: NSManagedObject) -> Field {
        let members = PropertyPath.members(of: object, relationship).compactMap { ObjectLink($0, readsLabel: false) }
        let name = relationship.destinationEntity?.name ?? ""
        let text = members.map(\.reference).joined(separator: "\n")
        return Field(
            name: relationship.name, type: TypeName.text(relationship),
            hint: relationship.isToMany ? "IDs such as \(name)/p12, a line each" : "The ID, such as \(name)/p12",
            isOptional: true, input: relationship.isToMany ? .references : .line, value: members.isEmpty ? nil : text,
            original: members.isEmpty ? nil : text)
    }

    private static func hint(_ attribute: NSAttributeDescription) -> String {
        switch attribute.kind {
        case .date: "2024-05-01 or 2024-05-01T12:30:00Z"
        case .composite: "JSON object"
        default: attribute.isOptional ? "" : "required"
        }
    }

    /// The text of a value that ``AttributeText`` reads back as the same value.
    static func text(_ value: Any?, of attribute: NSAttributeDescription) -> String? {
        let cell = AttributeText(attribute: attribute, isExact: true).cell(value)
        if case .object = cell { return cell.json }
        return cell.text
    }

    // MARK: Reading

    /// Takes over what a user typed. A conflict that was shown before is settled: the user has seen the other value.
    mutating func take(_ form: FormFields) {
        for index in fields.indices {
            let name = fields[index].name
            guard let typed = form["value-\(name)"] else { continue }
            let current = fields[index].original
            let isNil = form["nil-\(name)"] != nil
            let wasNil = form["was-nil-\(name)"] != nil
            let was = wasNil ? nil : (form["was-\(name)"] ?? current)
            if case .bytes = fields[index].input {
                if isNil { fields[index].value = nil }
                continue
            }
            // Browsers send line ends as two characters.
            let text = typed.replacing("\r\n", with: "\n")
            let isText = fields[index].type == "String"
            fields[index].value = isNil || (text.isEmpty && !isText) ? nil : text
            guard was?.replacing("\r\n", with: "\n") != current else { continue }
            // The store has another value than the form was made with.
            if fields[index].value == was {
                fields[index].value = current
            } else if fields[index].value != current {
                fields[index].conflict = current ?? "nil"
            }
        }
    }

    /// Sets the changed values; notes what is wrong beside the fields.
    mutating func apply(
        to object: NSManagedObject, in context: NSManagedObjectContext, _ browser: StoreBrowser
    ) {
        for index in fields.indices where fields[index].value != fields[index].original {
            let field = fields[index]
            do {
                if let attribute = object.entity.attributesByName[field.name] {
                    let value = try field.value.flatMap { try Self.value($0, of: attribute) }
                    object.setValue(value, forKey: attribute.name)
                } else if let relationship = object.entity.relationshipsByName[field.name] {
                    try Self.set(field.value ?? "", relationship, of: object, in: context, browser)
                }
            } catch {
                fields[index].problem = PredicateMessage.text(of: error)
            }
        }
    }

    private static func value(_ text: String, of attribute: NSAttributeDescription) throws -> Any? {
        if attribute.kind == .text { return text }
        return try AttributeText(attribute: attribute, isExact: true).value(.text(text))
    }

    private static func set(
        _ text: String, _ relationship: NSRelationshipDescription, of object: NSManagedObject,
        in context: NSManagedObjectContext, _ browser: StoreBrowser
    ) throws {
        let destination = relationship.destinationEntity?.name ?? ""
        let members = try text.split(whereSeparator: \.isWhitespace).map { part -> NSManagedObject in
            let parts = part.split(separator: "/")
            guard parts.count == 2, let entity = Address.plain(parts[0]) else {
                throw ToolkitError("'\(part)' is not the ID of an object, such as \(destination)/p12")
            }
            let member = try browser.object(entity, String(parts[1]), in: context)
            guard let expected = relationship.destinationEntity, member.entity.isKindOf(entity: expected) else {
                throw ToolkitError("\(part) is not an object of \(destination)")
            }
            return member
        }
        guard relationship.isToMany else {
            guard members.count < 2 else { throw ToolkitError("takes one object, not \(members.count)") }
            return object.setValue(members.first, forKey: relationship.name)
        }
        object.setValue(
            relationship.isOrdered ? NSOrderedSet(array: members) : NSSet(array: members), forKey: relationship.name)
    }

    /// Puts the errors of a save beside the fields that they are about.
    mutating func note(_ error: any Error) {
        let error = error as NSError
        for part in (error.userInfo[NSDetailedErrorsKey] as? [any Error]) ?? [error] {
            let key = (part as NSError).userInfo[NSValidationKeyErrorKey] as? String
            let message = ErrorMessage.text(of: part)
            if let index = fields.firstIndex(where: { $0.name == key }) {
                fields[index].problem = [fields[index].problem, message].compactMap { $0 }.joined(separator: "\n")
            } else {
                problems.append(message)
            }
        }
    }
}
