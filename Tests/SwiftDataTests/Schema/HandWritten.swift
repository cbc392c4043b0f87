import Foundation
import SwiftData

/// A model without the macro's members, for what needs the metadata and getters only.
protocol HandWritten {}

extension PersistentModel where Self: HandWritten {
    func _attach(_ object: ModelObject, _ context: ModelContext) {}
    func _withMutation(of keyPath: AnyKeyPath, _ mutation: () -> Void) { mutation() }
}

/// The superclass of models that no test makes an object of.
class UnreadModel: HandWritten {
    func unread<Value>() -> Value { preconditionFailure("No object has a value.") }
}
