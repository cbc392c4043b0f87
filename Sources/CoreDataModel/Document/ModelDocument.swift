import CoreDataPrimitives
import Foundation

/// The unchecked content of a model, from a `.xcdatamodel`, a compiled model or code.
///
/// References are names and are not resolved. ``ModelCompiler`` converts it to a ``CompiledModel`` or reports its
/// errors.
package struct ModelDocument: Hashable, Codable, Sendable {
    package var name: String?
    package var versionIdentifiers: [String] = []
    package var entities: [EntityElement] = []
    package var configurations: [ConfigurationElement] = []
    package var fetchRequests: [FetchRequestElement] = []
    package var composites: [CompositeElement] = []
    /// The position of each entity in Xcode's diagram; nothing else uses it.
    package var diagram: [DiagramElement] = []
    /// Attributes of the `model` element that only tools use: `sourceLanguage`, `minimumToolsVersion`, …
    package var toolAttributes: [String: String] = [:]
    /// Whether the document is the source of a compiled model. If so, Apple's stores have an additional index for each
    /// attribute that is the only and ascending element of an index: compiling adds it.
    ///
    /// True for documents read from source; false for models made in code and for a store's cached model, which
    /// lists those indexes already. In a compiled model such attributes are marked (`isIndexed`).
    package var appliesIndexDecodingQuirk = false
    /// The origin of the document: a model that Apple's tools accepted is not refused.
    package var origin = Origin.written
    /// The text of each file that locations point into, by path; diagnostics quote its lines.
    package var sources: [String: String] = [:]
    /// The reader's errors; the compiler reports them together with its own.
    package var diagnostics: [Diagnostic] = []
    /// Content of the file that the document cannot represent. Writers refuse such a document, so that the content is
    /// not lost.
    package var unkept: [Diagnostic] = []

    // A location in a file is meaningless elsewhere, so archives contain neither the text nor its diagnostics.
    private enum CodingKeys: String, CodingKey {
        case name, versionIdentifiers, entities, configurations, fetchRequests, composites, toolAttributes
        case appliesIndexDecodingQuirk, origin
    }

    package init() {}

    /// Returns the source line that `location` points into, if the document has its file's text.
    package func sourceLine(at location: SourceLocation?) -> String? {
        guard let location, let text = location.file.flatMap({ sources[$0] }), location.line > 0 else { return nil }
        let lines = text.split(
            maxSplits: location.line, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return lines.count >= location.line ? String(lines[location.line - 1]) : nil
    }
}

extension ModelDocument {
    /// The checks that a document passed before.
    package enum Origin: String, Hashable, Codable, Sendable {
        /// None: a source file, or code.
        case written
        /// Apple's compiler, or ours.
        case compiled
        /// The cached model of a store. An entity that lists indexes lists all indexes of its store, including those of
        /// marked attributes.
        case cached
    }
}

package struct EntityElement: Hashable, Codable, Sendable {
    package var name: String
    package var className: String?
    package var parentName: String?
    package var isAbstract = false
    package var properties: [PropertyElement] = []
    package var fetchIndexes: [FetchIndexElement] = []
    /// Property names of each constraint, in order.
    package var uniquenessConstraints: [[String]] = []
    package var userInfo: [String: String] = [:]
    package var versionHashModifier: String?
    package var renamingIdentifier: String?
    package var codeGenerationType: String?
    package var isSyncable: Bool?
    package var coreSpotlightDisplayNameExpression: String?
    /// Property names of each compound index of a model older than fetch indexes.
    package var compoundIndexes: [[String]] = []
    /// The hash that Apple computed, if a store or compiled model contains it. For entities with composite attributes
    /// it replaces ours, since their hash rule is not fully confirmed: no store with nested composites was available.
    package var knownVersionHash: Data?
    /// Attributes of the XML element that have no field here, kept for writing the file.
    package var toolAttributes: [String: String] = [:]
    package var location: SourceLocation?

    package init(name: String) { self.name = name }
}

/// The common fields of attributes, relationships and fetched properties, and the fields of each kind.
package struct PropertyElement: Hashable, Codable, Sendable {
    /// Indirect, because copying an attribute is expensive, and the passes copy elements.
    package indirect enum Kind: Hashable, Codable, Sendable {
        case attribute(AttributeElement)
        case relationship(RelationshipElement)
        case fetched(FetchRequestElement)
    }

    package var name: String
    package var isOptional = false
    package var isTransient = false
    package var isIndexed = false
    package var isIndexedBySpotlight = false
    package var isStoredInTruthFile = false
    package var isSyncable: Bool?
    package var userInfo: [String: String] = [:]
    package var versionHashModifier: String?
    package var renamingIdentifier: String?
    /// Attributes of the XML element that have no field here, kept for writing the file.
    package var toolAttributes: [String: String] = [:]
    package var kind: Kind
    package var location: SourceLocation?

    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}

package struct AttributeElement: Hashable, Codable, Sendable {
    package var type: AttributeType
    package var defaultValue: Value = .null
    /// The default as the file spells it, for diagnostics and for writing the file.
    package var defaultValueText: String?
    package var usesScalarValueType: Bool?
    /// Each predicate with the error code of its violation, e.g. `("SELF >= 1", 1620)`. They come from minimum, maximum
    /// and regular expression, or from a compiled model.
    package var validations: [ValidationElement] = []
    package var valueTransformerName: String?
    package var customClassName: String?
    package var allowsExternalBinaryDataStorage = false
    package var preservesValueInHistoryOnDeletion = false
    package var allowsCloudEncryption = false
    package var derivationExpression: String?
    package var derivationFilter: String?
    /// The name of a top-level composite (source models).
    package var compositeName: String?
    /// The elements, if there is no name (models in code and compiled models).
    package var elements: [PropertyElement] = []

    package init(type: AttributeType) { self.type = type }
}

package struct ValidationElement: Hashable, Codable, Sendable {
    package var predicate: String
    /// One of Apple's validation codes, 1550 if it cannot be derived, or a warning text of the model.
    package var warning: String

    package init(predicate: String, warning: String) {
        self.predicate = predicate
        self.warning = warning
    }
}

package struct RelationshipElement: Hashable, Codable, Sendable {
    package var destinationName: String?
    package var inverseName: String?
    package var inverseEntityName: String?
    package var minCount = 0
    /// 0 = unbounded, 1 = to-one.
    package var maxCount = 0
    package var deleteRule = DeleteRule.nullify
    package var isOrdered = false
    package var validations: [ValidationElement] = []

    package init() {}
}

package struct FetchIndexElement: Hashable, Codable, Sendable {
    package struct Element: Hashable, Codable, Sendable {
        package var propertyName: String?
        package var expression: String?
        package var expressionType: String?
        package var isRTree = false
        package var isAscending = true

        package init(propertyName: String? = nil, expression: String? = nil) {
            self.propertyName = propertyName
            self.expression = expression
        }
    }

    package var name: String
    package var elements: [Element] = []
    package var predicate: String?
    package var location: SourceLocation?

    package init(name: String) { self.name = name }
}

package struct FetchRequestElement: Hashable, Codable, Sendable {
    package struct Sort: Hashable, Codable, Sendable {
        package var key: String
        package var isAscending: Bool
        package var selector: String?

        package init(key: String, isAscending: Bool, selector: String? = nil) {
            self.key = key
            self.isAscending = isAscending
            self.selector = selector
        }
    }

    package var name: String
    package var entityName: String?
    package var predicate: String?
    package var sorts: [Sort] = []
    package var fetchLimit = 0
    package var fetchOffset = 0
    package var fetchBatchSize = 0
    /// 0: objects; 1: object IDs; 2: dictionaries; 4: count.
    package var resultType = 0
    package var includesSubentities = true
    package var includesPropertyValues = true
    package var includesPendingChanges = true
    package var returnsObjectsAsFaults = true
    package var returnsDistinctResults = false
    package var location: SourceLocation?

    package init(name: String) { self.name = name }
}

package struct ConfigurationElement: Hashable, Codable, Sendable {
    package var name: String
    package var entityNames: [String] = []
    package var usedWithCloudKit = false
    package var location: SourceLocation?

    package init(name: String) { self.name = name }
}

package struct CompositeElement: Hashable, Codable, Sendable {
    package var name: String
    package var properties: [PropertyElement] = []
    package var location: SourceLocation?

    package init(name: String) { self.name = name }
}

package struct DiagramElement: Hashable, Sendable {
    package var name: String
    /// `positionX`, `positionY`, `width`, `height`.
    package var attributes: [String: String]

    package init(name: String, attributes: [String: String]) {
        self.name = name
        self.attributes = attributes
    }
}
