import CoreDataPrimitives

/// A store exists, possibly since a short time, where another one should be created.
package struct PlaceTaken: EngineFailure {
    package init() {}
}
