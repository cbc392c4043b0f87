import Foundation

/// Turns archived data into the object in it, and back, letting only the allowed classes through.
///
///     final class ColorTransformer: NSSecureUnarchiveFromDataTransformer {
///         override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [Color.self] }
///     }
///
/// Core Data uses it the other way round than other transformers: the attribute's value is the transformed one, the
/// stored data the original.
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The classes that the root object may have; by default those of property lists, URLs, UUIDs and null.
    open class var allowedTopLevelClasses: [AnyClass] {
        [
            NSArray.self, NSDictionary.self, NSSet.self, NSString.self, NSNumber.self, NSDate.self, NSData.self,
            NSURL.self, NSUUID.self, NSNull.self,
        ]
    }

    open override class func transformedValueClass() -> AnyClass { NSObject.self }

    open override class func allowsReverseTransformation() -> Bool { true }

    /// Returns the object in archived data; `nil` if the data is no archive or has an object of another class.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return SecureArchive.object(ofClasses: type(of: self).allowedTopLevelClasses, from: data)
    }

    /// Returns the object as archived data; `nil` if it, or an object in it, cannot be archived securely, or is of a
    /// class that ``transformedValue(_:)`` would refuse.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        value.flatMap { SecureArchive.data(of: $0, ofClasses: type(of: self).allowedTopLevelClasses) }
    }
}
