import CoreDataDigests
import CoreDataPrimitives
import Foundation

/// The hashes with which a store and a model recognise each other, equal to Apple's byte for byte.
///
/// `‖` is concatenation, integers are little-endian, `H` is SHA-256:
/// ```
/// P            = H( name ‖ u16 flags ‖ modifier )       flags: 1 optional, 2 transient, 4 read-only
/// attribute    = H( P ‖ i32 type ‖ [01 if external] ‖ [01 if preserved after deletion] )
/// derived      = H( expression text ‖ filter text )
/// relationship = H( P ‖ destination ‖ [inverse] ‖ i32 maxCount ‖ i32 minCount ‖ [u16 1 if ordered] )
/// entity       = H( name ‖ u8 abstract ‖ [hash of superentity] ‖ properties by name ‖ modifier ‖ constraints )
/// composite    = H( elements by name )                  without P: its own name and optionality are not hashed
/// ```
/// Transient elements of a composite are not hashed. Nested composites are hashed the same way; no store of Apple's was
/// available to confirm this.
///
/// Classes, defaults, validation, delete rules, indexes, renaming identifiers and user info are not hashed.
package enum VersionHash {
    /// Returns the hash of one property as declared in the entity named `entityName`.
    package static func property(
        _ property: PropertyElement, declaredIn entityName: String, composites: [String: CompositeElement] = [:]
    ) -> Data {
        var hasher = VersionHasher(composites: composites)
        return hasher.property(property, declaredIn: entityName).data
    }

    /// Returns the hash of an entity.
    ///
    /// - Parameter properties: every property, including inherited ones, each with the name of the entity that declares
    ///   it, in any order.
    package static func entity(
        _ entity: EntityElement, properties: [(property: PropertyElement, declaredIn: String)],
        superentityHash: Data?, composites: [String: CompositeElement] = [:]
    ) -> Data {
        func hash(_ rule: VersionHasher.CompositeRule) -> Data {
            var hasher = VersionHasher(composites: composites, rule: rule)
            let hashed = properties.map {
                VersionHasher.Hashed($0.property, hasher.property($0.property, declaredIn: $0.declaredIn))
            }
            return hasher.entity(entity, properties: hashed, superentityHash: superentityHash)
        }
        if let known = entity.knownVersionHash, properties.contains(where: { $0.property.isComposite }),
            known != hash(.former)
        {
            return known
        }
        return hash(.apples)
    }

    /// Returns the version checksum of entities with these names and hashes.
    package static func checksum(_ hashes: [String: Data]) -> String {
        var input = Data()
        for (_, hash) in hashes.sorted(by: { NameOrder.byCodeUnits($0.key, $1.key) }) { input.append(hash) }
        return sha256(input).base64EncodedString()
    }

    static func sha256(_ input: Data) -> Data { VersionHasher.sha256(Array(input)).data }

    static func sha512(_ input: Data) -> Data { Digests.sha512(input) }
}

extension CompiledModel {
    /// Returns `NSManagedObjectModel.versionChecksum`, also a store's `NSStoreModelVersionChecksumKey`, for these
    /// entities, which are those of the store's configuration.
    package static func versionChecksum(entities: [CompiledEntity]) -> String {
        VersionHash.checksum(
            Dictionary(entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first }))
    }

    /// Returns a store's `NSStoreModelVersionHashesDigest` for these entities, which are those of its configuration.
    package static func versionHashesDigest(entities: [CompiledEntity]) -> String {
        var input = Data()
        for entity in entities.sorted(by: { NameOrder.byCodeUnits($0.name, $1.name) }) {
            input.append(contentsOf: entity.name.utf8)
            input.append(entity.versionHash)
        }
        return VersionHash.sha512(input).base64EncodedString()
    }
}
