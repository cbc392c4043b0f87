import Foundation

/// A colour of a cover, kept in a transformable attribute.
@objc(Colour)
public final class Colour: NSObject, NSSecureCoding {
    public static let supportsSecureCoding = true

    public let name: String

    public init(name: String) { self.name = name }

    public init?(coder: NSCoder) {
        guard let name = coder.decodeObject(of: NSString.self, forKey: #keyPath(Colour.name)) else { return nil }
        self.name = name as String
    }

    public func encode(with coder: NSCoder) { coder.encode(name as NSString, forKey: #keyPath(Colour.name)) }

    override public func isEqual(_ object: Any?) -> Bool { (object as? Colour)?.name == name }
}

/// Keeps colours as archives.
@objc(ColourTransformer)
public final class ColourTransformer: NSSecureUnarchiveFromDataTransformer {
    override public class var allowedTopLevelClasses: [AnyClass] { [Colour.self] }

    public static func register() {
        ValueTransformer.setValueTransformer(ColourTransformer(), forName: NSValueTransformerName("ColourTransformer"))
    }
}
