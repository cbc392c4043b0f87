import CoreDataPrimitives
import Foundation

/// Why a model cannot be used: every problem that was found, not only the first.
package struct ModelFailure: EngineFailure, Hashable, CustomStringConvertible {
    package var diagnostics: [Diagnostic]

    package init(diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }

    package var description: String { diagnostics.rendered }
}

/// Checks a ``ModelDocument`` and freezes it into a ``CompiledModel``.
///
///     let model = try ModelCompiler.compile(document)
///
/// A pass never stops at the first problem: it reports, repairs what it can for the passes after it, and goes on.
package enum ModelCompiler {
    /// The compiled model, or all errors of the document; warnings do not stop it.
    package static func compile(_ document: ModelDocument) throws(ModelFailure) -> CompiledModel {
        var compilation = Compilation(document)
        compilation.run()
        guard let model = compilation.model, !compilation.diagnostics.hasErrors else {
            throw ModelFailure(diagnostics: compilation.diagnostics.filter { $0.severity == .error })
        }
        return model
    }

    /// Errors and warnings of the document, the reader's first, in the order of the passes.
    package static func diagnose(_ document: ModelDocument) -> [Diagnostic] {
        var compilation = Compilation(document)
        compilation.run()
        return compilation.diagnostics
    }
}

extension ModelDocument {
    /// Throws what the reader could not make sense of; what the compiler would refuse may still be drawn.
    package func checkRead() throws(ModelFailure) {
        if diagnostics.hasErrors { throw ModelFailure(diagnostics: diagnostics.filter { $0.severity == .error }) }
    }
}

/// The state that the passes share, which tools that look for more take up. Entities are named by their index in the document
/// until ordinals are known.
package struct Compilation {
    /// A property with the document index of the entity that declares it: one object for all entities that have it, since
    /// an element is much to copy.
    package final class Slot {
        /// Of an element of a composite its name is the path to it.
        package let element: PropertyElement
        package let declarer: Int
        /// The slot of the composite that it is an element of.
        let composite: Int?
        /// Whether it is an attribute of several elements itself.
        let hasElements: Bool
        /// Whether version hashes of entities count it.
        let isHashed: Bool

        init(element: PropertyElement, declarer: Int, composite: Int? = nil) {
            self.element = element
            self.declarer = declarer
            self.composite = composite
            hasElements = element.isComposite
            isHashed = composite == nil && !element.isTransient && !element.isFetched
        }
    }

    package let document: ModelDocument
    package internal(set) var diagnostics: [Diagnostic]

    // Names
    /// The entity of each name; of two with one name the first.
    package internal(set) var indexByName: [String: Int] = [:]
    var composites: [String: CompositeElement] = [:]
    // Inheritance
    /// The parent of each entity; `nil` for roots and where the parent is unknown or the chain is a circle.
    package internal(set) var parents: [Int?] = []
    /// Document indices in the order of ordinals, and the ordinal of each document index.
    var order: [Int] = []
    package internal(set) var ordinals: [Int] = []
    // Slots
    /// The properties of each entity by slot.
    package internal(set) var slots: [[Slot]] = []
    package internal(set) var slotByName: [[String: Int]] = []
    // Relationships
    /// Of each relationship (entity, slot): destination's index and inverse's slot there.
    package internal(set) var ends: [End: (destination: Int, inverseSlot: Int?)] = [:]
    /// What came out, unless names or inheritance are beyond repair.
    package internal(set) var model: CompiledModel?

    package struct End: Hashable {
        var entity: Int
        var slot: Int

        package init(entity: Int, slot: Int) {
            self.entity = entity
            self.slot = slot
        }
    }

    package init(_ document: ModelDocument) {
        self.document = document
        diagnostics = document.diagnostics
    }

    package var entities: [EntityElement] { document.entities }

    package mutating func run() {
        checkNames()
        resolveInheritance()
        resolveComposites()
        assignSlots()
        resolveRelationships()
        checkAttributes()
        checkConstraints()
        checkIndexes()
        checkConfigurations()
        if !diagnostics.hasErrors { model = assemble() }
    }

    /// Notes a problem. An error in a model that Apple's tools have accepted is a warning, as it must not be refused:
    /// what it is about stays in the document, and is left out of the compiled model as far as need be. Only what is
    /// `fatal`, since there is no model without it, is always an error.
    mutating func report(
        _ message: String, at location: SourceLocation?, hint: String? = nil, severity: Diagnostic.Severity = .error,
        fatal: Bool = false, rule: LintRule = .invalidModel, subject: String? = nil
    ) {
        let isAccepted = document.origin != .written && severity == .error && !fatal
        diagnostics.append(
            Diagnostic(
                isAccepted ? .warning : severity, message, at: location, sourceLine: document.sourceLine(at: location),
                hint: hint,
                rule: rule.rawValue, subject: subject))
    }

    /// Where a property stands, or its entity where the property has no place of its own.
    package func location(_ property: PropertyElement, in entity: Int) -> SourceLocation? {
        property.location ?? entities[entity].location
    }

    /// How messages name a property: `Book.author`.
    package func path(_ property: PropertyElement, in entity: Int) -> String {
        "\(entities[entity].name).\(property.name)"
    }
}
