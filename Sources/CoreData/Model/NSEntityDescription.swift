import Foundation

/// An entity of a model: a kind of object, with its properties.
open class NSEntityDescription: NSObject {
    open var name: String?
}
