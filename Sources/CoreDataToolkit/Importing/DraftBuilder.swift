import CoreData
import Foundation

/// Converts records to drafts.
struct DraftBuilder {
    private(set) var plan: ImportPlan
    /// Whether an empty field counts as no value; see ``AttributeText``.
    private var emptyIsNil = false
    /// Whether the current record was exported with its ID, so that its values are exact.
    private var isExact = false

    init(plan: ImportPlan) { self.plan = plan }

    /// - Parameter emptyIsNil: whether an empty field counts as no value; see ``AttributeText``.
    /// - Throws: a ``ToolkitError`` that names entity and property.
    mutating func draft(_ record: Record, emptyIsNil: Bool) throws -> ObjectDraft {
        self.emptyIsNil = emptyIsNil
        let draft = ObjectDraft(entity: plan.entity)
        draft.reference = try Self.reference(of: record)
        isExact = draft.reference != nil
        for (name, value) in record.fields { try add(name, value, to: draft) }
        guard !draft.saysNothing || record.fields.isEmpty || record.fields.contains(where: { plan.isKnown($0.name) })
        else {
            let names = record.fields.prefix(5).map { "'\($0.name)'" }.joined(separator: ", ")
            throw ToolkitError("no property of \(plan.entity.name ?? "") has the name of a field: \(names)")
        }
        try finish(draft, at: plan.entity.name ?? "")
        guard draft.key != nil || isExact || plan.uniques.of(plan.entity).isEmpty else {
            let names = plan.uniques.of(plan.entity).joined(separator: " and ")
            throw ToolkitError("\(plan.entity.name ?? ""): no value for \(names), which tells records apart")
        }
        return draft
    }

    /// Returns the ID of the record's object, from a field that is not a property's.
    static func reference(of record: Record) throws -> ObjectReference? {
        guard let field = record.fields.first(where: { $0.name == Record.idField }) else { return nil }
        switch field.value {
        case .null, .text(""): return nil
        case .text(let text):
            if let reference = ObjectReference(text) { return reference }
            throw ToolkitError("objectID: '\(text)' is no ID such as x-coredata://…/Item/p12 or Item/p12")
        case .boolean, .number, .list, .object: throw ToolkitError("objectID: takes a text such as Item/p12")
        }
    }

    private mutating func add(_ name: String, _ value: FieldValue, to draft: ObjectDraft) throws {
        if name == Record.idField { return }
        if name == Record.nothingField, isExact, case .text(let names) = value {
            for name in names.split(separator: " ") { try add(String(name), .null, to: draft) }
            return
        }
        if case .object(let fields) = value, plan.isNested(name) {
            for field in fields { try add("\(name).\(field.name)", field.value, to: draft) }
            return
        }
        guard let path = try plan.target(of: name) else { return }
        try set(value, path, path.steps[...], on: draft)
    }

    private mutating func set(
        _ value: FieldValue, _ path: PropertyPath, _ steps: ArraySlice<NSRelationshipDescription>,
        on draft: ObjectDraft
    ) throws {
        if let step = steps.first {
            guard let destination = step.destinationEntity else { return }
            if step.isToMany {
                guard steps.count == 1, let attribute = path.attribute else { throw notAList(path) }
                draft.lists[step.name] = try elements(value, path).map { element in
                    let member = ObjectDraft(entity: destination)
                    try setAttribute(element, attribute, path.key, on: member)
                    try finish(member, at: path.text)
                    return member
                }
                return
            }
            let next = draft.links[step.name].flatMap { $0 } ?? ObjectDraft(entity: destination)
            draft.links[step.name] = .some(next)
            try set(value, path, steps.dropFirst(), on: next)
        } else if let attribute = path.attribute {
            try setAttribute(value, attribute, path.key, on: draft)
        } else if let relationship = path.relationship {
            try setRelationship(value, relationship, path, on: draft)
        } else {
            throw ToolkitError("'\(path.text)' cannot be imported: it is no attribute and no relationship")
        }
    }

    private func setAttribute(
        _ value: FieldValue, _ attribute: NSAttributeDescription, _ key: String, on draft: ObjectDraft
    ) throws {
        // Ignore values that the store computes or does not store.
        guard !(attribute is NSDerivedAttributeDescription), !attribute.isTransient else { return }
        if let element = StoredEnumeration(attribute)?.rawValue, !value.isObject {
            return try setAttribute(value, element, "\(key).\(element.name)", on: draft)
        }
        if case .object(let fields) = value, !isExact, let composite = attribute as? NSCompositeAttributeDescription {
            // Elements without a field keep their values, like an object's properties.
            for field in fields {
                guard let element = composite.element(called: field.name) else {
                    let hint = Suggestion.text(for: field.name, among: composite.elements.map(\.name))
                    throw ToolkitError("\(draft.entity.name ?? "").\(key): has no element '\(field.name)'\(hint)")
                }
                try setAttribute(field.value, element, "\(key).\(element.name)", on: draft)
            }
            return
        }
        do {
            let text = AttributeText(attribute: attribute, emptyIsNil: emptyIsNil && !isExact, isExact: isExact)
            let value = try text.value(value)
            draft.values[key] = .some(value)
        } catch let failure as ToolkitError {
            throw ToolkitError("\(draft.entity.name ?? "").\(key): \(failure.message)")
        }
    }

    /// Sets a relationship from a field with its name: the value is the other object's ID or its single unique
    /// attribute.
    private mutating func setRelationship(
        _ value: FieldValue, _ relationship: NSRelationshipDescription, _ path: PropertyPath, on draft: ObjectDraft
    ) throws {
        guard let destination = relationship.destinationEntity else { return }
        if relationship.isToMany {
            draft.lists[relationship.name] = try elements(value, path).map {
                try member($0, of: destination, path) ?? ObjectDraft(entity: destination)
            }
        } else {
            draft.links[relationship.name] = .some(try member(value, of: destination, path))
        }
    }

    private mutating func member(
        _ value: FieldValue, of destination: NSEntityDescription, _ path: PropertyPath
    ) throws -> ObjectDraft? {
        if value == .null { return nil }
        let draft = ObjectDraft(entity: destination)
        if case .text(let text) = value, let reference = ObjectReference(text) {
            draft.reference = reference
            draft.isReference = true
            return draft
        }
        if case .object(let fields) = value {
            for field in fields {
                if field.name == Record.idField {
                    draft.reference = try Self.reference(
                        of: Record(fields: [(field.name, field.value)], number: 0, line: 0))
                    draft.isReference = fields.count == 1
                    continue
                }
                let path = try PropertyPath(field.name, of: destination)
                try set(field.value, path, path.steps[...], on: draft)
            }
        } else {
            let names = plan.uniques.of(destination)
            guard names.count == 1, let attribute = destination.attributesByName[names[0]] else {
                let entity = destination.name ?? ""
                throw ToolkitError(
                    """
                    '\(path.text)' is a relationship to \(entity), and not one attribute tells which \(entity) is meant; \
                    give it with \(plan.uniques.label) \(UniqueAttributes.example(of: destination) ?? "\(entity).attribute")
                    """)
            }
            try setAttribute(value, attribute, attribute.name, on: draft)
        }
        try finish(draft, at: path.text)
        if draft.isBlank { return nil }
        if draft.key == nil, draft.reference == nil, let relationship = path.relationship {
            plan.noteDestination(of: relationship)
        }
        return draft
    }

    private func elements(_ value: FieldValue, _ path: PropertyPath) throws -> [FieldValue] {
        switch value {
        case .list(let elements): return elements
        case .null: return []
        case .text(let text) where text.isEmpty: return []
        case .text(let text):
            // IDs contain no blanks, so formats without lists can contain several.
            let parts = text.split(separator: " ").map(String.init)
            guard parts.allSatisfy({ ObjectReference($0) != nil }) else { throw notAList(path) }
            return parts.map { .text($0) }
        default: throw notAList(path)
        }
    }

    private func notAList(_ path: PropertyPath) -> ToolkitError {
        ToolkitError("'\(path.text)' goes through a to-many relationship, which takes a list; JSON has lists")
    }

    /// Removes blank links, and sets the key of every draft.
    private func finish(_ draft: ObjectDraft, at path: String) throws {
        for (name, link) in draft.links {
            guard let link else { continue }
            if link.isReference { continue }
            if link.isBlank {
                draft.links[name] = .some(nil)
            } else {
                try finish(link, at: "\(path).\(name)")
            }
        }
        let names = plan.uniques.of(draft.entity)
        guard !names.isEmpty else { return }
        let values = names.map { draft.values[$0].flatMap { $0 } }
        if values.allSatisfy({ $0 != nil }) {
            draft.key = ObjectKey(
                entity: draft.entity.name ?? "", parts: values.compactMap { $0 }.map(ObjectKey.Part.init))
        }
    }
}

extension FieldValue {
    fileprivate var isObject: Bool {
        if case .object = self { return true }
        return false
    }
}

extension ImportPlan {
    /// Returns whether the fields of a nested object are fields of a related object; otherwise the object is the value
    /// itself.
    fileprivate func isNested(_ field: String) -> Bool {
        guard let path = try? PropertyPath(field, of: entity) else { return true }
        return path.relationship != nil
    }
}
