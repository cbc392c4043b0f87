/// Makes a class a model: its stored properties are persisted once a context inserts an instance.
///
///     @Model final class Item {
///         #Unique<Item>([\.code])
///         var code: String
///         var quantity = 1
///         @Relationship(deleteRule: .cascade, inverse: \Part.item) var parts: [Part] = []
///         @Transient var isSelected = false
///         init(code: String) { self.code = code }
///     }
///
/// All stored properties of instances are persisted, but those with ``Transient()``, `lazy` and `weak` ones. Each gets
/// accessors that read and write the context's row, and that take part in observation. The class gets the conformances
/// to `PersistentModel` and `Observable`. A class may inherit from another model.
///
/// The class needs an initializer. The macro reports properties that it cannot persist.
///
/// `willSet` and `didSet` of a persisted property run when the property is set: not for changes by the other side of a
/// relationship, by undo, rollback or other contexts.
///
///     var minutes = 0 {
///         didSet { if minutes < 0 { minutes = oldValue } }
///     }
///
/// A model may be isolated to the main actor (`@MainActor @Model`). Contexts of other actors can fetch and delete its
/// instances, but the compiler allows the use of its properties on the main actor only. In the Swift 6 language mode
/// the compiler refuses their key paths in `#Predicate` and `SortDescriptor`, which need `Sendable` ones. So leave out
/// `@MainActor` where you can.
///
/// Differs from Apple: initial values may use the type of the property (`var state: State = .idle`), and observers of
/// properties run.
@attached(
    member, conformances: PersistentModel, Sendable,
    names: named(_$backingData), named(persistentBackingData), named(schemaMetadata), named(init), named(_attach),
    named(_$object), named(_make),
    named(_$observation), named(access), named(withMutation), named(_withMutation), named(_SwiftDataNoType))
@attached(memberAttribute)
@attached(extension, conformances: PersistentModel, Sendable)
public macro Model() = #externalMacro(module: "SwiftDataMacros", type: "PersistentModelMacro")

/// Sets options of a persisted attribute.
///
///     @Attribute(.unique) var code: String
///     @Attribute(.externalStorage, originalName: "image") var photo: Data?
///
/// - Parameters:
///   - options: what the store does with the values.
///   - originalName: the property's name in earlier schemas, for migration.
///   - hashModifier: tells versions of the schema apart that differ in nothing else.
@attached(peer)
public macro Attribute(
    _ options: Schema.Attribute.Option..., originalName: String? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "AttributeMacro")

/// Sets options of a relationship.
///
///     @Relationship(deleteRule: .cascade, inverse: \Part.item) var parts: [Part] = []
///
/// Write it on one side only: the compiler cannot resolve two key paths that need each other.
///
/// - Parameters:
///   - options: `.unique`, for a to-one relationship.
///   - deleteRule: what happens to the related models when the model is deleted.
///   - minimumModelCount: the least number of related models, checked by a save.
///   - maximumModelCount: the greatest number of related models, checked by a save; 0 is any number.
///   - originalName: the property's name in earlier schemas, for migration.
///   - inverse: the property of the related model that refers back.
///   - hashModifier: tells versions of the schema apart that differ in nothing else.
@attached(peer)
public macro Relationship(
    _ options: Schema.Relationship.Option..., deleteRule: Schema.Relationship.DeleteRule = .nullify,
    minimumModelCount: Int? = 0, maximumModelCount: Int? = 0, originalName: String? = nil,
    inverse: AnyKeyPath? = nil, hashModifier: String? = nil
) = #externalMacro(module: "SwiftDataMacros", type: "RelationshipMacro")

/// Leaves a stored property of a model alone: it is not persisted, and has its default value after each fetch.
@attached(peer)
public macro Transient() = #externalMacro(module: "SwiftDataMacros", type: "TransientMacro")

/// Declares which properties, or combinations of properties, are unique among the rows of the enclosing model.
///
///     @Model final class Person {
///         #Unique<Person>([\.email], [\.firstName, \.lastName])
@freestanding(declaration)
public macro Unique<T: PersistentModel>(_ constraints: [PartialKeyPath<T>]...) =
    #externalMacro(module: "SwiftDataMacros", type: "UniqueMacro")

/// Declares indexes of the enclosing model's properties.
///
///     @Model final class Person {
///         #Index<Person>([\.lastName], [\.lastName, \.firstName])
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: [PartialKeyPath<T>]...) =
    #externalMacro(module: "SwiftDataMacros", type: "IndexMacro")

/// Declares indexes of the enclosing model's properties, each of a kind.
///
///     @Model final class Place {
///         #Index<Place>(.binary([\.name]), .rtree([\.latitude, \.longitude]))
@freestanding(declaration)
public macro Index<T: PersistentModel>(_ indices: Schema.Index<T>.Types<T>...) =
    #externalMacro(module: "SwiftDataMacros", type: "IndexMacro")

/// Gives an actor a container and a context of its own, which is used on the actor's executor only.
///
///     @ModelActor actor Importer {
///         func add(_ codes: [String]) throws {
///             for code in codes { modelContext.insert(Item(code: code)) }
///             try modelContext.save()
///         }
///     }
///     try await Importer(modelContainer: container).add(["a", "b"])
///
/// Adds `modelContainer`, `modelExecutor` and, unless the actor declares it, `init(modelContainer:)`.
@attached(
    member, names: named(modelExecutor), named(modelContainer), named(init))
@attached(extension, conformances: ModelActor)
public macro ModelActor() = #externalMacro(module: "SwiftDataMacros", type: "ModelActorMacro")

// MARK: Added by @Model

/// The accessors of a persisted property. `@Model` adds it, with the property's index in its class.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_), prefixed(_$key_), prefixed(_$isObserving_))
public macro _PersistedProperty(_ index: Int) =
    #externalMacro(module: "SwiftDataMacros", type: "PersistedPropertyMacro")

/// The accessors of a persisted property whose value goes through a value transformer.
@attached(accessor, names: named(init), named(get), named(set))
@attached(peer, names: prefixed(_), prefixed(_$key_), prefixed(_$isObserving_))
public macro _TransformablePersistedProperty(_ index: Int) =
    #externalMacro(module: "SwiftDataMacros", type: "TransformablePersistedPropertyMacro")
