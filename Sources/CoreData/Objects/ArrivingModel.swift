import CObjectRuntime

/// The class of the model that this thread makes for an object, so that initial values are not kept for it.
///
/// Its initialiser sets all properties to their initial values, as that of a new model does, before it learns of the object.
package enum ArrivingModel {
    /// Makes a model of the class.
    @inline(__always)
    package static func making<Model: AnyObject>(_ type: Model.Type, _ make: () -> Model) -> Model {
        ocd_set_arriving_class(unsafeBitCast(ObjectIdentifier(type), to: UnsafeRawPointer.self))
        defer { ocd_set_arriving_class(nil) }
        return make()
    }

    /// Whether the values that are asked for are those of a model that is being made for an object; true once for each.
    package static func take(_ type: AnyClass) -> Bool {
        ocd_take_arriving_class(unsafeBitCast(ObjectIdentifier(type), to: UnsafeRawPointer.self))
    }
}
