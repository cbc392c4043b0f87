import CoreDataPrimitives

extension NSManagedObject {
    /// Checks that the attribute's transformer makes data of the value, as a save does.
    ///
    /// A value that the row has, and that a save does not write, is not checked: the transformer may have changed
    /// since. Neither is one that is data already, as that of a `Codable` property.
    final func checkTransformer(of value: Value, _ slot: Int, _ errors: inout [any Error]) {
        let info = runtime.slots[slot]
        guard info.type == .transformable, info.column >= 0, case .opaque(let box) = value else { return }
        fireIfNeeded(key: nil)
        if !isUnreadable(slot) {
            let current = attributeValue(slot)
            if let own = ManagedObjectValues.any(current, slot: info), .opaque(Transformation.box(own)) == value {
                guard case .opaque = current, !hasRow || values?.changed.contains(slot) == true else { return }
            }
        }
        do { _ = try Transformation.data(from: box, attribute: info, of: runtime) } catch { errors.append(error) }
    }
}
