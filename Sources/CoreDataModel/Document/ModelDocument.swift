import CoreDataPrimitives
import Foundation

/// A model as written down: what a `.xcdatamodel`, a compiled model or code says, before anything is checked.
///
/// Names refer to names; nothing is resolved. ``ModelCompiler`` makes a ``CompiledModel`` of it or says what is
/// wrong with it.
package struct ModelDocument: Hashable, Codable, Sendable {
    package var name: String?
    package var versionIdentifiers: [String] = []
    package var entities: [EntityElement] = []
    package var configurations: [ConfigurationElement] = []
    package var fetchRequests: [FetchRequestElement] = []
    package var composites: [CompositeElement] = []
    /// Where Xcode draws each entity; of no meaning to anything else.
    package var diagram: [DiagramElement] = []
    /// Attributes of the `model` element that only tools read: `sourceLanguage`, `minimumToolsVersion`, …
    package var toolAttributes: [String: String] = [:]
    /// Whether the document is the source of a compiled model, so that Apple's stores of it have the index that
    /// compiling adds to each attribute that is some index's only, ascending element.
    ///
    /// True for documents read from source; false for models made in code and for a store's cached model, which
    /// lists those indexes already. In a compiled model such attributes are marked (`isIndexed`).
    package var appliesIndexDecodingQuirk = false
    /// Where the document comes from: what Apple's tools have accepted is not refused.
    package var origin = Origin.written
    /// The text of each file that locations point into, by path; diagnostics quote its lines.
    package var sources: [String: String] = [:]
    /// What the reader could not make sense of; the compiler reports it together with its own findings.
    package var diagnostics: [Diagnostic] = []
    /// What the file says and the document has no place for; writers refuse such a document, so that it is not lost.
    package var unkept: [Diagnostic] = []

    // A place in a file means nothing elsewhere, so archives have neither the text nor what was found in it.
    private enum CodingKeys: String, CodingKey {
        case name, versionIdentifiers, entities, configurations, fetchRequests, composites, toolAttributes
        case appliesIndexDecodingQuirk, origin
    }

    package init() {}

    /// The line of source that `location` points into, where the document has its file's text.
    package func sourceLine(at location: SourceLocation?) -> String? {
        guard let location, let text = location.file.flatMap({ sources[$0] }), location.line > 0 else { return nil }
        let lines = text.split(
            maxSplits: location.line, omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        return lines.count >= location.line ? String(lines[location.line - 1]) : nil
    }
}

extension ModelDocument {
    /// Who has checked a document before.
    package enum Origin: String, Hashable, Codable, Sendable {
        /// Nobody: a source, or code.
        case written
        /// Apple's compiler, or ours.
        case compiled
        /// A store keeps it. An entity that lists indexes lists all that its store has, those of marked attributes
        /// included.
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
    /// The hash that Apple computed, where a store or compiled model tells it. It wins over ours for entities
    /// with composite attributes, of whose hash rule not all is known: no store with nested ones has been seen.
    package var knownVersionHash: Data?
    /// Attributes of the XML element that have no field here, kept for writing the file back.
    package var toolAttributes: [String: String] = [:]
    package var location: SourceLocation?

    package init(name: String) { self.name = name }
}

/// What attributes, relationships and fetched properties share, and what each has of its own.
package struct PropertyElement: Hashable, Codable, Sendable {
    /// Kept apart, since an attribute is much to copy and elements are handed from pass to pass.
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
    /// Attributes of the XML element that have no field here, kept for writing the file back.
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
    /// The default as the file spells it, for diagnostics and for writing it back.
    package var defaultValueText: String?
    package var usesScalarValueType: Bool?
    /// Each predicate in the predicate language with the error code that its violation has, e.g.
    /// `("SELF >= 1", 1620)`; from minimum, maximum and regular expression, or as a compiled model has them.
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
    /// The elements themselves (models in code and compiled models), where there is no name.
    package var elements: [PropertyElement] = []

    package init(type: AttributeType) { self.type = type }
}

package struct ValidationElement: Hashable, Codable, Sendable {
    package var predicate: String
    /// One of Apple's validation codes, 1550 where it is not derived, or a warning text of the model's own.
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
    /// 0 objects, 1 object IDs, 2 dictionaries, 4 count.
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
