import CObjectRuntime

/// The class of the model that this thread creates for an object, so that its initial values are not kept.
///
/// Its initialiser sets all properties to their initial values, like that of a new model, before it knows the object.
package enum ModelUnderConstruction {
    /// Makes a model of the class.
    @inline(__always)
    package static func making<Model: AnyObject>(_ type: Model.Type, _ make: () -> Model) -> Model {
        ocd_set_arriving_class(unsafeBitCast(ObjectIdentifier(type), to: UnsafeRawPointer.self))
        defer { ocd_set_arriving_class(nil) }
        return make()
    }

    /// Returns whether the requested values belong to a model that is being created for an object; true once for each.
    package static func take(_ type: AnyClass) -> Bool {
        ocd_take_arriving_class(unsafeBitCast(ObjectIdentifier(type), to: UnsafeRawPointer.self))
    }
}
