/// Makes the metadata of a model's schema on any actor.
///
/// A key path of a property that belongs to the main actor can be formed there only. It is a constant, and forming it
/// reads no value. The initial values of a `@MainActor` model are evaluated where the schema is read first: they must
/// not need the actor.
///
/// Used by the expansion of `@Model`.
public func _modelMetadata(_ make: @MainActor () -> [Schema.PropertyMetadata]) -> [Schema.PropertyMetadata] {
    // Safe because it makes key paths and default values, and uses no model.
    withoutActuallyEscaping(make) { unsafeBitCast($0, to: (() -> [Schema.PropertyMetadata]).self)() }
}
