import Foundation
@_spi(Reflection) import Swift

/// The collections in which Foundation's ordered set keeps its objects.
///
/// `firstObject`, `lastObject`, `reversed`, the enumerators and some more read them directly and cannot be overridden.
/// Their places are asked of the class itself, by name and type; were they not there, those methods would find nothing.
enum OrderedSetStorage {
    private struct Places {
        var arrays: [Int] = []
        var sets: [Int] = []
    }

    private static let places: Places = {
        var places = Places()
        // The option for classes: without it the function does not read their fields.
        _ = _forEachField(of: NSMutableOrderedSet.self, options: _EachFieldOptions(rawValue: 1)) {
            name, offset, type, _ in
            switch String(cString: name) {
            case "_orderedStorage" where type == NSArray.self,
                "_mutableOrderedStorage" where type == NSMutableArray.self:
                places.arrays.append(offset)
            case "_storage" where type == NSSet.self, "_mutableStorage" where type == NSMutableSet.self:
                places.sets.append(offset)
            default: break
            }
            return true
        }
        return places
    }()

    /// Makes the ordered set keep its objects in these two collections; its former objects are forgotten.
    static func replace(in orderedSet: NSMutableOrderedSet, array: NSMutableArray, set: NSMutableSet) {
        let address = Unmanaged.passUnretained(orderedSet).toOpaque()
        for place in places.arrays { (address + place).assumingMemoryBound(to: NSArray.self).pointee = array }
        for place in places.sets { (address + place).assumingMemoryBound(to: NSSet.self).pointee = set }
    }
}
