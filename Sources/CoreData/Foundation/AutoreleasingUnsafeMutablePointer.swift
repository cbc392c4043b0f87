/// The pointer through which a validation method reads a value and may put another in its place.
///
///     override func validateValue(
///         _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
///     ) throws {
///         if let text = value.pointee as? String { value.pointee = text.capitalized as NSString }
///         try super.validateValue(value, forKey: key)
///     }
///
///     var value: AnyObject? = "oslo" as NSString
///     try city.validateValue(&value, forKey: "name")      // value is "Oslo"
///
/// Differs from Apple: there is no autoreleasing here, so it is a plain pointer, which `&value` makes.
public typealias AutoreleasingUnsafeMutablePointer<Pointee> = UnsafeMutablePointer<Pointee>
