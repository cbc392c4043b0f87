import CoreDataPrimitives
import Foundation

/// The errors of a model that cannot be used: every problem that was found, not only the first.
package struct ModelFailure: EngineFailure, Hashable, CustomStringConvertible {
    package var diagnostics: [Diagnostic]

    package init(diagnostics: [Diagnostic]) { self.diagnostics = diagnostics }

    package var description: String { diagnostics.rendered }
}

/// Checks a ``ModelDocument`` and freezes it into a ``CompiledModel``.
///
///     let model = try ModelCompiler.compile(document)
///
/// A pass does not stop at the first problem: it reports the problem, repairs what it can for later passes, and
/// continues.
package enum ModelCompiler {
    /// Returns the compiled model, or throws all errors of the document; warnings do not stop it.
    package static func compile(_ document: ModelDocument) throws(ModelFailure) -> CompiledModel {
        var compilation = Compilation(document)
        compilation.run()
        guard let model = compilation.model, !compilation.diagnostics.hasErrors else {
            throw ModelFailure(diagnostics: compilation.diagnostics.filter { $0.severity == .error })
        }
        return model
    }

    /// Returns the errors and warnings of the document: the reader's first, then in the order of the passes.
    package static func diagnose(_ document: ModelDocument) -> [Diagnostic] {
        var compilation = Compilation(document)
        compilation.run()
        return compilation.diagnostics
    }
}

extension ModelDocument {
    /// Throws the errors of the reader. A document that only the compiler would refuse can still be drawn.
    package func checkRead() throws(ModelFailure) {
        if diagnostics.hasErrors { throw ModelFailure(diagnostics: diagnostics.filter { $0.severity == .error }) }
    }
}

/// The state that the passes share; tools with additional checks use it too. Entities are identified by their index in
/// the document until ordinals are known.
package struct Compilation {
    /// A property and the document index of the entity that declares it. All entities that inherit the property share
    /// one object, since copying an element is expensive.
    package final class Slot {
        /// The property; the name of a composite's element is its path.
        package let element: PropertyElement
        package let declarer: Int
        /// The slot of the composite that contains this element.
        let composite: Int?
        /// Whether the attribute is a composite, with elements of its own.
        let hasElements: Bool
        /// Whether the version hashes of entities include it.
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
    /// The index of the entity with each name; if two have the same name, the first.
    package internal(set) var indexByName: [String: Int] = [:]
    var composites: [String: CompositeElement] = [:]
    // Inheritance
    /// The parent of each entity; `nil` for roots, for unknown parents and in inheritance cycles.
    package internal(set) var parents: [Int?] = []
    /// Document indices in the order of ordinals, and the ordinal of each document index.
    var order: [Int] = []
    package internal(set) var ordinals: [Int] = []
    // Slots
    /// The properties of each entity, indexed by slot.
    package internal(set) var slots: [[Slot]] = []
    package internal(set) var slotByName: [[String: Int]] = []
    // Relationships
    /// The destination's index of each relationship (entity, slot), and the inverse's slot there.
    package internal(set) var ends: [End: (destination: Int, inverseSlot: Int?)] = [:]
    /// The compiled model; `nil` if names or inheritance have fatal errors.
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

    /// Reports a problem. A model that Apple's tools accepted must not be refused, so its errors become warnings: the
    /// element stays in the document, and the compiled model omits it if necessary. `fatal` problems, without which no
    /// model can be built, are always errors.
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

    /// Returns the location of a property, or of its entity if the property has none.
    package func location(_ property: PropertyElement, in entity: Int) -> SourceLocation? {
        property.location ?? entities[entity].location
    }

    /// Returns the name of a property in messages: `Book.author`.
    package func path(_ property: PropertyElement, in entity: Int) -> String {
        "\(entities[entity].name).\(property.name)"
    }
}
