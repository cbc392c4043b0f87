import CoreDataPrimitives
import Foundation

/// A model that has been checked and frozen: immutable, everything looked up by ordinal and slot.
///
/// An *ordinal* is an entity's position in ``entities``; a *slot* is a property's position in an entity.
/// Entities stand in the order in which Apple numbers them: root entities by name without regard to case, each
/// followed by its subentities, depth first. A fresh store of the whole model gives the entity `ordinal + 1` as
/// its number (`Z_ENT`); other stores have their own numbers.
package final class CompiledModel: Sendable {
    package let entities: [CompiledEntity]
    package let ordinalByName: [String: Int]
    /// Ordinals of the entities of each named configuration, ascending. The default configuration is not in it.
    package let configurations: [String: [Int]]
    package let versionIdentifiers: [String]
    /// Whether Apple's tools have accepted the model, so that what no store can have is left out rather than refused.
    package let isAccepted: Bool
    package let companions = ModelCompanions()

    package init(
        entities: [CompiledEntity], configurations: [String: [Int]], versionIdentifiers: [String],
        isAccepted: Bool = false
    ) {
        self.entities = entities
        self.configurations = configurations
        self.versionIdentifiers = versionIdentifiers
        self.isAccepted = isAccepted
        ordinalByName = Dictionary(
            entities.map { ($0.name, $0.ordinal) }, uniquingKeysWith: { first, _ in first })
    }

    package func entity(named name: String) -> CompiledEntity? {
        ordinalByName[name].map { entities[$0] }
    }

    /// The entities of a configuration, or all for `nil`; `nil` where there is no such configuration.
    package func entities(inConfiguration name: String?) -> [CompiledEntity]? {
        guard let name else { return entities }
        return configurations[name]?.map { entities[$0] }
    }
}

/// An entity of a ``CompiledModel``.
package final class CompiledEntity: Sendable {
    package let ordinal: Int
    package let name: String
    package let className: String?
    package let isAbstract: Bool
    package let parent: Int?
    /// The topmost ancestor, or the entity itself: rows of one root share a table and a range of keys.
    package let root: Int
    /// This entity and all below it, ascending.
    package let subtree: [Int]
    /// Every property by slot: the parent's first, in the parent's order, then the entity's own by name
    /// (code-unit order). A slot therefore means the same in every subentity.
    package let properties: [CompiledProperty]
    package let slotByName: [String: Int]
    /// Each constraint as slots, in the order of the model; own ones only.
    package let uniquenessConstraints: [[Int]]
    /// Those that its store has, in Apple's order: what marked attributes and compound indexes imply included.
    package let fetchIndexes: [CompiledFetchIndex]
    /// 32 bytes, equal to those that Apple's framework writes for the same entity.
    package let versionHash: Data
    /// The hash that earlier versions of this framework gave an entity with composite attributes; `nil` where it is the
    /// same, as it is for every entity without.
    package let formerVersionHash: Data?
    package let rowLayout: RowLayout
    /// Whether the table of a root entity has no index on the entities of its rows: an entity of Photos asks for that.
    package let omitsEntityIndex: Bool

    package init(
        ordinal: Int, name: String, className: String?, isAbstract: Bool, parent: Int?, root: Int,
        subtree: [Int], properties: [CompiledProperty], slotByName: [String: Int], uniquenessConstraints: [[Int]],
        fetchIndexes: [CompiledFetchIndex], versionHash: Data, formerVersionHash: Data? = nil, rowLayout: RowLayout,
        omitsEntityIndex: Bool = false
    ) {
        self.ordinal = ordinal
        self.name = name
        self.className = className
        self.isAbstract = isAbstract
        self.parent = parent
        self.root = root
        self.subtree = subtree
        self.properties = properties
        self.slotByName = slotByName
        self.uniquenessConstraints = uniquenessConstraints
        self.fetchIndexes = fetchIndexes
        self.versionHash = versionHash
        self.formerVersionHash = formerVersionHash
        self.rowLayout = rowLayout
        self.omitsEntityIndex = omitsEntityIndex
    }

    package func property(named name: String) -> CompiledProperty? {
        slotByName[name].map { properties[$0] }
    }

    /// Whether a store with that hash has the entity as it is here: a store may be of an earlier version of this framework.
    package func hasVersionHash(_ hash: Data) -> Bool { hash == versionHash || hash == formerVersionHash }

    /// Whether rows have elements of composite attributes.
    package var hasStoredComposites: Bool { properties.contains { $0.attribute?.hasStoredElements == true } }

    /// The names of the properties that the model gives the entity: those of elements are in their composites.
    package var namesInModel: [String] { properties.lazy.filter { $0.composite == nil }.map(\.name) }

    /// The first property that a path leads to, with what is left of the path: an element where it leads into a composite.
    ///
    ///     property(at: ["address", "city", "length"])     // address.city, ["length"]
    package func property(at path: ArraySlice<String>) -> (property: CompiledProperty, rest: ArraySlice<String>)? {
        guard let first = path.first, var property = property(named: first) else { return nil }
        var rest = path.dropFirst()
        while property.isComposite, let next = rest.first,
            let element = self.property(named: property.name + "." + next)
        {
            property = element
            rest = rest.dropFirst()
        }
        return (property, rest)
    }
}

/// A property by slot.
///
/// A composite attribute is in no column; each of its elements has a slot of its own, whose name is the path that leads to it,
/// and stores, predicates, histories and migrations know nothing but those:
///
///     address         // composite, with no column
///     address.city    // an attribute like any other, an element of it
package struct CompiledProperty: Sendable {
    /// Kept apart, since an attribute is much to copy.
    package indirect enum Kind: Sendable {
        case attribute(CompiledAttribute)
        case relationship(CompiledRelationship)
        /// A fetched property: never stored, answered by a request.
        case fetched
    }

    /// Of an element the path that leads to it: `address.city`.
    package var name: String
    package var slot: Int
    /// The ordinal of the entity that declares it; inherited properties keep their ancestor's.
    package var declaringEntity: Int
    package var isOptional: Bool
    package var isTransient: Bool
    package var kind: Kind
    /// The slot of the composite attribute that this is an element of.
    package var composite: Int?

    package init(
        name: String, slot: Int, declaringEntity: Int, isOptional: Bool, isTransient: Bool, kind: Kind,
        composite: Int? = nil
    ) {
        self.name = name
        self.slot = slot
        self.declaringEntity = declaringEntity
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.kind = kind
        self.composite = composite
    }

    /// Whether it is several values under one name.
    package var isComposite: Bool { attribute?.type == .composite }

    /// The name of an element in its composite; else the name.
    package var elementName: String {
        guard composite != nil, let point = name.lastIndex(of: ".") else { return name }
        return String(name[name.index(after: point)...])
    }

    /// Whether stores have values of it, or of its elements.
    package var isStored: Bool { !isTransient || attribute?.hasStoredElements == true }

    /// What the names of columns are made of: `CITY` for the element `address.city`, as in Apple's stores.
    package var columnStem: String { elementName.uppercased() }

    /// What they were made of in earlier versions of this framework: `ADDRESS_CITY`.
    package var formerColumnStem: String {
        let stem = name.uppercased()
        return composite == nil ? stem : stem.replacing(".", with: "_")
    }

    package var attribute: CompiledAttribute? {
        if case .attribute(let attribute) = kind { return attribute }
        return nil
    }

    package var relationship: CompiledRelationship? {
        if case .relationship(let relationship) = kind { return relationship }
        return nil
    }
}

package struct CompiledAttribute: Sendable {
    package var type: AttributeType
    package var defaultValue: Value
    package var valueTransformerName: String?
    /// The class of a transformable attribute's values, where the model names one.
    package var valueClassName: String?
    package var allowsExternalBinaryDataStorage: Bool
    package var preservesValueInHistoryOnDeletion: Bool
    /// The text of a derived attribute's expression, in the predicate language: `pages.@count`.
    package var derivationExpression: String?
    package var derivationFilter: String?
    /// The slots of a composite attribute's elements, in the order of their names.
    package var elements: [Int]

    package init(
        type: AttributeType, defaultValue: Value = .null, valueTransformerName: String? = nil,
        valueClassName: String? = nil, allowsExternalBinaryDataStorage: Bool = false,
        preservesValueInHistoryOnDeletion: Bool = false, derivationExpression: String? = nil,
        derivationFilter: String? = nil, elements: [Int] = []
    ) {
        self.type = type
        self.defaultValue = defaultValue
        self.valueTransformerName = valueTransformerName
        self.valueClassName = valueClassName
        self.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
        self.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
        self.derivationExpression = derivationExpression
        self.derivationFilter = derivationFilter
        self.elements = elements
    }

    /// What a text is to be found by besides its index.
    package var searchIndexes: SearchIndexKinds = []

    /// The same slots in the order in which the model declares the elements: the order of their columns.
    package var declaredElements: [Int] = []

    /// Of a composite attribute, whether stores have its elements; it is in no column itself.
    package var hasStoredElements = false

    package var isDerived: Bool { derivationExpression != nil }
}

package enum DeleteRule: Int, Sendable {
    case noAction = 0
    case nullify = 1
    case cascade = 2
    case deny = 3
}

package struct CompiledRelationship: Sendable {
    /// The ordinal of the destination entity.
    package var destination: Int
    /// The slot of the inverse in the destination entity (and so in all its subentities); `nil` without inverse.
    package var inverseSlot: Int?
    package var minCount: Int
    /// 0 = unbounded; 1 = to-one.
    package var maxCount: Int
    package var deleteRule: DeleteRule
    package var isOrdered: Bool

    package init(
        destination: Int, inverseSlot: Int?, minCount: Int, maxCount: Int, deleteRule: DeleteRule,
        isOrdered: Bool
    ) {
        self.destination = destination
        self.inverseSlot = inverseSlot
        self.minCount = minCount
        self.maxCount = maxCount
        self.deleteRule = deleteRule
        self.isOrdered = isOrdered
    }

    package var isToMany: Bool { maxCount != 1 }
}

package struct CompiledFetchIndex: Sendable {
    package struct Element: Sendable {
        /// The property's slot in the entity that owns the index; `nil` for an expression.
        package var slot: Int?
        package var expression: String?
        package var isAscending: Bool
        package var isRTree: Bool

        package init(slot: Int?, expression: String? = nil, isAscending: Bool = true, isRTree: Bool = false) {
            self.slot = slot
            self.expression = expression
            self.isAscending = isAscending
            self.isRTree = isRTree
        }
    }

    package var name: String
    package var elements: [Element]
    /// The text of the partial-index predicate.
    package var predicate: String?

    /// Whether it is for ranges of several numbers at once.
    package var isRTree: Bool { !elements.isEmpty && elements.allSatisfy(\.isRTree) }

    package init(name: String, elements: [Element], predicate: String? = nil) {
        self.name = name
        self.elements = elements
        self.predicate = predicate
    }
}
