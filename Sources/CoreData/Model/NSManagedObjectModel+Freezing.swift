import CoreDataModel
import CoreDataPrimitives
import Foundation

extension NSManagedObjectModel {
    /// Checks and compiles the model and forbids every later change; returns immediately if the model is in use.
    ///
    /// Any number of threads may call it at the same time; one compiles, the others wait for it.
    ///
    /// - Throws: a `CocoaError` that lists all problems of the model, which stays mutable.
    @discardableResult
    package final func freeze() throws -> CompiledModel {
        try lock.withLock { caches in
            if isFrozen, let compiled = caches.compiled { return compiled }
            let compiled = try caches.compiled ?? compileNow()
            connect(compiled)
            caches.compiled = compiled
            isFrozen = true
            return compiled
        }
    }

    /// The engine's form of the model, or `nil` if no coordinator uses it yet.
    package final var compiledModel: CompiledModel? { isFrozen ? lock.withLock(\.compiled) : nil }

    /// The compiled model of the present content, without freezing it.
    final func compile() throws -> CompiledModel {
        try lock.withLock { caches in
            if let compiled = caches.compiled { return compiled }
            let compiled = try compileNow()
            caches.compiled = compiled
            return compiled
        }
    }

    /// The compiled model of the present content, if it was compiled already.
    final var compiledIfKnown: CompiledModel? { lock.withLock(\.compiled) }

    /// Hands in what compiling the present content gave, so that it need not be compiled again.
    final func didCompile(_ compiled: CompiledModel) { lock.withLock { $0.compiled = compiled } }

    private func compileNow() throws -> CompiledModel {
        do {
            return try ModelCompiler.compile(makeDocument())
        } catch {
            throw CoreDataErrors.modelInvalid(error.diagnostics)
        }
    }

    /// Sets the position of every description in the compiled model.
    private func connect(_ compiled: CompiledModel) {
        let byName = entitiesByName
        let ordered = compiled.entities.compactMap { byName[$0.name] }
        for (entity, compiledEntity) in zip(ordered, compiled.entities) {
            for property in entity.ownProperties {
                property.slot = compiledEntity.slotByName[property.name] ?? -1
                property.freeze()
            }
            for index in entity.indexes { index.freeze() }
            entity.ordinal = compiledEntity.ordinal
            entity.compiledEntity = compiledEntity
            // Parents come first, so that inherited properties have their slots already.
            entity.propertyDescriptions = entity.allProperties.sorted { $0.slot < $1.slot }
            entity.isFrozen = true
        }
        entityDescriptions = ordered
        frozenEntitiesByName = byName
    }
}
