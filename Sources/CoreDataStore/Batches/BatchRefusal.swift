/// A batch request that no database can follow as it is.
package struct BatchRefusal: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
