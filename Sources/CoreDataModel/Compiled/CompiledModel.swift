import CoreDataPrimitives
import Foundation

/// A model that was checked and frozen: immutable, with entities found by ordinal and properties by slot.
///
/// An *ordinal* is an entity's position in ``entities``; a *slot* is a property's position in an entity.
/// The entities are in the order in which Apple numbers them: root entities by name, ignoring case, each followed by
/// its subentities, depth first. A new store of the whole model numbers an entity `ordinal + 1` (`Z_ENT`); other stores
/// have their own numbers.
package final class CompiledModel: Sendable {
    package let entities: [CompiledEntity]
    package let ordinalByName: [String: Int]
    /// The ordinals of the entities of each named configuration, ascending. The default configuration is not in the
    /// dictionary.
    package let configurations: [String: [Int]]
    package let versionIdentifiers: [String]
    /// Whether Apple's tools accepted the model. Elements that no store can have are then ignored instead of refused.
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

    /// Returns the entities of a configuration, or all entities for `nil`; `nil` if the configuration does not exist.
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
    /// The topmost ancestor, or the entity itself: rows of entities with the same root share a table and a range of
    /// keys.
    package let root: Int
    /// The ordinals of this entity and all its descendants, ascending.
    package let subtree: [Int]
    /// Every property by slot: the parent's first, in the parent's order, then the entity's own by name (code-unit
    /// order). So a slot identifies the same property in every subentity.
    package let properties: [CompiledProperty]
    package let slotByName: [String: Int]
    /// The entity's own constraints as slots, in the order of the model.
    package let uniquenessConstraints: [[Int]]
    /// The indexes of its store, in Apple's order, including those that marked attributes and compound indexes imply.
    package let fetchIndexes: [CompiledFetchIndex]
    /// 32 bytes, equal to the hash that Apple's framework writes for the same entity.
    package let versionHash: Data
    /// The hash that earlier versions of this framework gave an entity with composite attributes. It is `nil` if the
    /// hash did not change, as for every entity without composites.
    package let formerVersionHash: Data?
    package let rowLayout: RowLayout
    /// Whether the table of a root entity has no index on the entity column; an entity of Photos requires this.
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

    /// Returns whether a store's hash matches this entity, including a hash from an earlier version of this framework.
    package func hasVersionHash(_ hash: Data) -> Bool { hash == versionHash || hash == formerVersionHash }

    /// Whether rows store elements of composite attributes.
    package var hasStoredComposites: Bool { properties.contains { $0.attribute?.hasStoredElements == true } }

    /// The names of the properties that the model declares for the entity; elements are in their composites.
    package var namesInModel: [String] { properties.lazy.filter { $0.composite == nil }.map(\.name) }

    /// Finds the first property on a path and returns the rest of the path. If the path enters a composite, the
    /// property is the element.
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

/// A property of an entity, identified by its slot.
///
/// A composite attribute has no column. Each of its elements has its own slot, named by its path. Stores, predicates,
/// histories and migrations use only the elements:
///
///     address         // composite, with no column
///     address.city    // an attribute like any other, an element of it
package struct CompiledProperty: Sendable {
    /// Indirect, because copying an attribute is expensive.
    package indirect enum Kind: Sendable {
        case attribute(CompiledAttribute)
        case relationship(CompiledRelationship)
        /// A fetched property: never stored; a fetch request computes it.
        case fetched
    }

    /// The name; for an element its path: `address.city`.
    package var name: String
    package var slot: Int
    /// The ordinal of the entity that declares the property; for an inherited property, the ancestor's.
    package var declaringEntity: Int
    package var isOptional: Bool
    package var isTransient: Bool
    package var kind: Kind
    /// The slot of the composite attribute that contains this element.
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

    /// Whether the property is a composite attribute.
    package var isComposite: Bool { attribute?.type == .composite }

    /// The name of an element within its composite; for other properties the name.
    package var elementName: String {
        guard composite != nil, let point = name.lastIndex(of: ".") else { return name }
        return String(name[name.index(after: point)...])
    }

    /// Whether stores contain values of the property or of its elements.
    package var isStored: Bool { !isTransient || attribute?.hasStoredElements == true }

    /// The stem of column names: `CITY` for the element `address.city`, as in Apple's stores.
    package var columnStem: String { elementName.uppercased() }

    /// The stem of column names in earlier versions of this framework: `ADDRESS_CITY`.
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
    /// The class of a transformable attribute's values, if the model names one.
    package var valueClassName: String?
    package var allowsExternalBinaryDataStorage: Bool
    package var preservesValueInHistoryOnDeletion: Bool
    /// The text of a derived attribute's expression, in the predicate language: `pages.@count`.
    package var derivationExpression: String?
    package var derivationFilter: String?
    /// The slots of a composite attribute's elements, sorted by name.
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

    /// The search indexes of a text, in addition to its ordinary index.
    package var searchIndexes: SearchIndexKinds = []

    /// The same slots in the order in which the model declares the elements: the order of the columns.
    package var declaredElements: [Int] = []

    /// Whether stores contain the elements of this composite attribute; the composite itself has no column.
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
    /// The slot of the inverse in the destination entity and all its subentities; `nil` without an inverse.
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

    /// Whether the index is an R-tree, for ranges of several numbers at once.
    package var isRTree: Bool { !elements.isEmpty && elements.allSatisfy(\.isRTree) }

    package init(name: String, elements: [Element], predicate: String? = nil) {
        self.name = name
        self.elements = elements
        self.predicate = predicate
    }
}
