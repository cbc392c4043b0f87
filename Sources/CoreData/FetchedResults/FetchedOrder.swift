import CoreDataPredicate
import CoreDataStore
import Foundation

/// In which order rows stand, and in which sections.
struct FetchedOrder {
    /// The sort values of an object, read once.
    struct Keys { fileprivate let values: [Operand] }

    let sectionPath: String?
    private let sorter: ObjectSorter
    /// Whether the model knows every key of the section's path: then it is read without key-value coding.
    private let sectionKeys: [String]?

    /// Whether the name of a section determines its position: no two names are equal in the order.
    let isSortedBySectionName: Bool
    /// Whether the names of sections are stored values, not computed by code.
    let isSectionStored: Bool

    /// - Throws: an error for a section key path through a to-many relationship.
    init(_ translation: FetchTranslation, sectionPath: String?, in model: ModelRuntime) throws {
        sorter = ObjectSorter(sorts: translation.sorts)
        self.sectionPath = sectionPath
        guard let sectionPath else {
            sectionKeys = nil
            isSortedBySectionName = true
            isSectionStored = false
            return
        }
        let keys = sectionPath.split(separator: ".").map(String.init)
        isSortedBySectionName =
            translation.sorts.first.map { $0.keyPath == keys && $0.comparison == .literal } ?? false
        var entity: EntityRuntime? = translation.entity
        var isModelled = !keys.isEmpty
        var isStored = true
        var rest = keys[...]
        while let key = rest.first {
            guard let owner = entity, let (slot, remainder) = owner.slot(at: rest) else {
                isModelled = false
                break
            }
            if owner.slots[slot].isToMany {
                throw CoreDataErrors.invalidRequest(
                    "The sectionNameKeyPath '\(sectionPath)' leads through the to-many relationship '\(key)' of entity "
                        + "'\(owner.name)'; an object is in one section.")
            }
            rest = remainder
            if owner.slots[slot].property.isTransient { isStored = false }
            entity = owner.slots[slot].relationship.map { model.entities[$0.destination] }
        }
        sectionKeys = isModelled && entity == nil ? keys : nil
        isSectionStored = sectionKeys != nil && isStored
    }

    var hasSorts: Bool { !sorter.sorts.isEmpty }

    // MARK: Order

    func keys(of object: NSManagedObject) -> Keys {
        Keys(values: sorter.sorts.map { (try? sorter.value($0, of: object)) ?? .null })
    }

    /// Returns a negative number if the object with the keys comes before the other one, zero if neither does.
    func compare(_ keys: Keys, _ other: NSManagedObject) -> Int {
        for (index, sort) in sorter.sorts.enumerated() {
            let value = (try? sorter.value(sort, of: other)) ?? .null
            let order = OperandSorting.order(keys.values[index], value, by: sort.comparison)
            if order != 0 { return sort.isAscending ? order : -order }
        }
        return 0
    }

    func compare(_ a: Keys, _ b: Keys) -> Int {
        for (index, sort) in sorter.sorts.enumerated() {
            let order = OperandSorting.order(a.values[index], b.values[index], by: sort.comparison)
            if order != 0 { return sort.isAscending ? order : -order }
        }
        return 0
    }

    // MARK: Sections

    /// Returns the section of the object; empty if there are no sections.
    func sectionName(of object: NSManagedObject) -> String {
        guard let sectionPath else { return "" }
        guard let sectionKeys else { return Self.name(of: object.value(forKeyPath: sectionPath)) }
        let operand = (try? object.operand(atPath: sectionKeys)) ?? .null
        if case .value(.string(let name)) = operand { return name }
        return Self.name(of: OperandBridging.any(from: operand))
    }

    /// Sees that an object of the request knows the keys of the section's path that the model does not have.
    ///
    /// - Throws: an error that names the path: to read the name would stop the program.
    func checkSectionPath(of object: NSManagedObject) throws {
        guard let sectionPath, sectionKeys == nil else { return }
        let path = ExpressionNode.keyPath(
            operand: .evaluatedObject, sectionPath.split(separator: ".").map(String.init))
        do { _ = try ExpressionEvaluator(path).value(for: .object(object)) } catch {
            throw CoreDataErrors.invalidRequest(
                "The sectionNameKeyPath '\(sectionPath)' is none of entity '\(object.runtime.name)': "
                    + ((error as? PredicateFailure)?.diagnostic.message ?? "\(error)"))
        }
    }

    /// The value as the name of a section.
    static func name(of value: Any?) -> String {
        switch value {
        case nil, is NSNull: ""
        case let name as String: name
        case let number as NSNumber: number.stringValue
        case let url as URL: url.absoluteString
        case let value?: "\(value)"
        }
    }
}
