import CoreData
import Foundation

/// An object as a record describes it: values that fit the attributes, and the objects it is linked to.
final class ObjectDraft {
    let entity: NSEntityDescription
    /// By attribute name; `.some(nil)` sets nothing.
    var values: [String: Any?] = [:]
    /// To-one relationships by name; `.some(nil)` unlinks.
    var links: [String: ObjectDraft?] = [:]
    /// To-many relationships by name.
    var lists: [String: [ObjectDraft]] = [:]
    /// What tells the object from others of its entity; `nil` where nothing does.
    var key: ObjectKey?

    init(entity: NSEntityDescription) { self.entity = entity }

    /// This draft and those inside it.
    func forEach(_ body: (ObjectDraft) -> Void) {
        body(self)
        for draft in links.values { draft?.forEach(body) }
        for drafts in lists.values { for draft in drafts { draft.forEach(body) } }
    }

    /// Whether a record said nothing about it at all.
    var saysNothing: Bool { values.isEmpty && links.isEmpty && lists.isEmpty }

    /// Whether a record said nothing about it but that it has no values.
    var isBlank: Bool {
        values.values.allSatisfy { $0 == nil } && lists.values.allSatisfy(\.isEmpty)
            && links.values.allSatisfy { $0?.isBlank ?? true }
    }
}

/// The unique values of an object of an entity.
struct ObjectKey: Hashable {
    let entity: String
    let parts: [Part]

    /// A value that equals another only where both are stored alike; texts byte by byte.
    enum Part: Hashable {
        case text([UInt8])
        case number(Decimal)
        case date(Double)
        case uuid(UUID)
        case other(String)

        init(_ value: Any) {
            self =
                switch value {
                case let value as String: .text(Array(value.utf8))
                case let value as URL: .text(Array(value.absoluteString.utf8))
                case let value as Date: .date(value.timeIntervalSinceReferenceDate)
                case let value as UUID: .uuid(value)
                case let value as NSNumber: .number(value.decimalValue)
                default: .other("\(value)")
                }
        }
    }
}

/// Makes drafts of records.
struct DraftBuilder {
    var plan: ImportPlan
    /// Whether an empty field is no value; see ``AttributeText``.
    let emptyIsNil: Bool

    /// - Throws: ``ToolFailure`` that names entity and property.
    mutating func draft(_ record: Record) throws -> ObjectDraft {
        let draft = ObjectDraft(entity: plan.entity)
        for (name, value) in record.fields { try add(name, value, to: draft) }
        guard !draft.saysNothing || record.fields.isEmpty || record.fields.contains(where: { plan.isKnown($0.name) })
        else {
            let names = record.fields.prefix(5).map { "'\($0.name)'" }.joined(separator: ", ")
            throw ToolFailure("no property of \(plan.entity.name ?? "") has the name of a field: \(names)")
        }
        try finish(draft, at: plan.entity.name ?? "")
        guard draft.key != nil || plan.uniqueAttributes(of: plan.entity).isEmpty else {
            let names = plan.uniqueAttributes(of: plan.entity).joined(separator: " and ")
            throw ToolFailure("\(plan.entity.name ?? ""): no value for \(names), which tells records apart")
        }
        return draft
    }

    private mutating func add(_ name: String, _ value: FieldValue, to draft: ObjectDraft) throws {
        if case .object(let fields) = value, plan.isNested(name) {
            for field in fields { try add("\(name).\(field.name)", field.value, to: draft) }
            return
        }
        guard let path = try plan.target(of: name) else { return }
        try set(value, path, path.steps[...], on: draft)
    }

    private func set(
        _ value: FieldValue, _ path: PropertyPath, _ steps: ArraySlice<NSRelationshipDescription>,
        on draft: ObjectDraft
    ) throws {
        if let step = steps.first {
            guard let destination = step.destinationEntity else { return }
            if step.isToMany {
                guard steps.count == 1, let attribute = path.attribute else { throw notAList(path) }
                draft.lists[step.name] = try elements(value, path).map { element in
                    let member = ObjectDraft(entity: destination)
                    try setAttribute(element, attribute, on: member)
                    try finish(member, at: path.text)
                    return member
                }
                return
            }
            let next = draft.links[step.name].flatMap { $0 } ?? ObjectDraft(entity: destination)
            draft.links[step.name] = .some(next)
            try set(value, path, steps.dropFirst(), on: next)
        } else if let attribute = path.attribute {
            try setAttribute(value, attribute, on: draft)
        } else if let relationship = path.relationship {
            try setRelationship(value, relationship, path, on: draft)
        } else {
            throw ToolFailure("'\(path.text)' cannot be imported: it is no attribute and no relationship")
        }
    }

    private func setAttribute(
        _ value: FieldValue, _ attribute: NSAttributeDescription, on draft: ObjectDraft
    ) throws {
        // What the store computes, or nobody stores, is not the file's to say.
        guard !(attribute is NSDerivedAttributeDescription), !attribute.isTransient else { return }
        do {
            let value = try AttributeText(attribute: attribute, emptyIsNil: emptyIsNil).value(value)
            draft.values[attribute.name] = .some(value)
        } catch let failure as ToolFailure {
            throw ToolFailure("\(draft.entity.name ?? "").\(attribute.name): \(failure.message)")
        }
    }

    /// A field for a relationship itself says which object by its one unique attribute.
    private func setRelationship(
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

    private func member(
        _ value: FieldValue, of destination: NSEntityDescription, _ path: PropertyPath
    ) throws -> ObjectDraft? {
        if value == .null { return nil }
        let draft = ObjectDraft(entity: destination)
        if case .object(let fields) = value {
            for field in fields {
                let path = try PropertyPath(field.name, of: destination)
                try set(field.value, path, path.steps[...], on: draft)
            }
        } else {
            let names = plan.uniqueAttributes(of: destination)
            guard names.count == 1, let attribute = destination.attributesByName[names[0]] else {
                let entity = destination.name ?? ""
                throw ToolFailure(
                    """
                    '\(path.text)' is a relationship to \(entity), and not one attribute tells which \(entity) is meant; \
                    give it with --unique \(ImportPlan.example(of: destination) ?? "\(entity).attribute")
                    """)
            }
            try setAttribute(value, attribute, on: draft)
        }
        try finish(draft, at: path.text)
        return draft.isBlank ? nil : draft
    }

    private func elements(_ value: FieldValue, _ path: PropertyPath) throws -> [FieldValue] {
        switch value {
        case .list(let elements): return elements
        case .null: return []
        case .text(let text) where text.isEmpty: return []
        default: throw notAList(path)
        }
    }

    private func notAList(_ path: PropertyPath) -> ToolFailure {
        ToolFailure("'\(path.text)' goes through a to-many relationship, which takes a list; JSON has lists")
    }

    /// Blank links become none, and every draft gets its key.
    private func finish(_ draft: ObjectDraft, at path: String) throws {
        for (name, link) in draft.links {
            guard let link else { continue }
            if link.isBlank {
                draft.links[name] = .some(nil)
            } else {
                try finish(link, at: "\(path).\(name)")
            }
        }
        let names = plan.uniqueAttributes(of: draft.entity)
        guard !names.isEmpty else { return }
        let values = names.map { draft.values[$0].flatMap { $0 } }
        if values.allSatisfy({ $0 != nil }) {
            draft.key = ObjectKey(
                entity: draft.entity.name ?? "", parts: values.compactMap { $0 }.map(ObjectKey.Part.init))
        }
    }
}

extension ImportPlan {
    /// Whether the fields of a nested object are fields of a related object; else the object is the value itself.
    fileprivate func isNested(_ field: String) -> Bool {
        guard let path = try? PropertyPath(field, of: entity) else { return true }
        return path.relationship != nil
    }
}
