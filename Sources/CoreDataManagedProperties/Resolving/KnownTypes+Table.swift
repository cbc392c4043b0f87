// Written by Scripts/known-types.sh; change that, not this.

extension KnownTypes {
    /// One declaration a line: kind, name, number of generic parameters where there are any; `alias name = type`.
    static let table: [(module: String, declarations: String)] = [
        (
            "Swift",
            """
            protocol AdditiveArithmetic
            struct AnyBidirectionalCollection 1
            alias AnyClass = any AnyObject.Type
            struct AnyCollection 1
            struct AnyHashable
            struct AnyIndex
            struct AnyIterator 1
            class AnyKeyPath
            struct AnyRandomAccessCollection 1
            struct AnySequence 1
            struct Array 1
            alias ArrayLiteralConvertible = ExpressibleByArrayLiteral
            struct ArraySlice 1
            protocol BidirectionalCollection
            alias BidirectionalIndexable = BidirectionalCollection
            protocol BinaryFloatingPoint
            protocol BinaryInteger
            protocol BitwiseCopyable
            struct Bool
            alias BooleanLiteralConvertible = ExpressibleByBooleanLiteral
            alias BooleanLiteralType = Bool
            alias CBool = Bool
            alias CChar = Int8
            alias CChar16 = UInt16
            alias CChar32 = Unicode.Scalar
            alias CChar8 = UInt8
            alias CDouble = Double
            alias CFloat = Float
            alias CFloat16 = Float16
            alias CInt = Int32
            alias CLong = Int
            alias CLongDouble = Float80
            alias CLongLong = Int64
            alias CShort = Int16
            alias CSignedChar = Int8
            alias CUnsignedChar = UInt8
            alias CUnsignedInt = UInt32
            alias CUnsignedLong = UInt
            alias CUnsignedLongLong = UInt64
            alias CUnsignedShort = UInt16
            struct CVaListPointer
            protocol CVarArg
            alias CWideChar = Unicode.Scalar
            protocol CaseIterable
            struct Character
            alias Character.UTF16View = String.UTF16View
            alias Character.UTF8View = String.UTF8View
            alias Character.UnicodeScalarView = String.UnicodeScalarView
            struct ClosedRange 1
            enum ClosedRange.Index
            alias Codable = Decodable & Encodable
            protocol CodingKey
            protocol CodingKeyRepresentable
            struct CodingUserInfoKey
            alias CodingUserInfoKey.RawValue = String
            protocol Collection
            struct CollectionDifference 1
            enum CollectionDifference.Change
            struct CollectionDifference.Index
            struct CollectionOfOne 1
            struct CollectionOfOne.Iterator
            enum CommandLine
            protocol Comparable
            alias ConcurrentValue = Sendable
            struct ContiguousArray 1
            protocol Copyable
            protocol CustomDebugStringConvertible
            protocol CustomLeafReflectable
            protocol CustomPlaygroundDisplayConvertible
            alias CustomPlaygroundQuickLookable = _CustomPlaygroundQuickLookable
            protocol CustomReflectable
            protocol CustomStringConvertible
            protocol Decodable
            protocol Decoder
            enum DecodingError
            struct DecodingError.Context
            struct DefaultIndices 1
            struct DefaultStringInterpolation
            struct Dictionary 2
            struct Dictionary.Index
            struct Dictionary.Iterator
            struct Dictionary.Keys
            struct Dictionary.Keys.Iterator
            struct Dictionary.Values
            struct Dictionary.Values.Iterator
            alias DictionaryLiteralConvertible = ExpressibleByDictionaryLiteral
            struct DiscontiguousSlice 1
            struct DiscontiguousSlice.Index
            struct Double
            alias Double.Exponent = Int
            alias Double.Magnitude = Double
            alias Double.RawSignificand = UInt64
            struct Double.SIMD16Storage
            struct Double.SIMD2Storage
            struct Double.SIMD32Storage
            struct Double.SIMD4Storage
            struct Double.SIMD64Storage
            struct Double.SIMD8Storage
            alias Double.SIMDMaskScalar = Int64
            struct DropFirstSequence 1
            struct DropWhileSequence 1
            struct DropWhileSequence.Iterator
            struct Duration
            protocol DurationProtocol
            struct EmptyCollection 1
            struct EmptyCollection.Iterator
            protocol Encodable
            protocol Encoder
            enum EncodingError
            struct EncodingError.Context
            struct EnumeratedSequence 1
            struct EnumeratedSequence.Index
            struct EnumeratedSequence.Iterator
            protocol Equatable
            protocol Error
            protocol Escapable
            protocol ExpressibleByArrayLiteral
            protocol ExpressibleByBooleanLiteral
            protocol ExpressibleByDictionaryLiteral
            protocol ExpressibleByExtendedGraphemeClusterLiteral
            protocol ExpressibleByFloatLiteral
            protocol ExpressibleByIntegerLiteral
            protocol ExpressibleByNilLiteral
            protocol ExpressibleByStringInterpolation
            protocol ExpressibleByStringLiteral
            protocol ExpressibleByUnicodeScalarLiteral
            alias ExtendedGraphemeClusterLiteralConvertible = ExpressibleByExtendedGraphemeClusterLiteral
            alias ExtendedGraphemeClusterType = String
            protocol FixedWidthInteger
            struct FlattenSequence 1
            struct FlattenSequence.Index
            struct FlattenSequence.Iterator
            struct Float
            alias Float.Exponent = Int
            alias Float.Magnitude = Float
            alias Float.RawSignificand = UInt32
            struct Float.SIMD16Storage
            struct Float.SIMD2Storage
            struct Float.SIMD32Storage
            struct Float.SIMD4Storage
            struct Float.SIMD64Storage
            struct Float.SIMD8Storage
            alias Float.SIMDMaskScalar = Int32
            struct Float16
            alias Float16.Exponent = Int
            alias Float16.Magnitude = Float16
            alias Float16.RawSignificand = UInt16
            struct Float16.SIMD16Storage
            struct Float16.SIMD2Storage
            struct Float16.SIMD32Storage
            struct Float16.SIMD4Storage
            struct Float16.SIMD64Storage
            struct Float16.SIMD8Storage
            alias Float16.SIMDMaskScalar = Int16
            alias Float32 = Float
            alias Float64 = Double
            struct Float80
            alias Float80.Exponent = Int
            alias Float80.Magnitude = Float80
            alias Float80.RawSignificand = UInt64
            alias FloatLiteralConvertible = ExpressibleByFloatLiteral
            alias FloatLiteralType = Double
            protocol FloatingPoint
            enum FloatingPointClassification
            enum FloatingPointRoundingRule
            enum FloatingPointSign
            protocol Hashable
            struct Hasher
            protocol Identifiable
            alias Indexable = Collection
            alias IndexableBase = Collection
            struct IndexingIterator 1
            struct InlineArray 2
            protocol InstantProtocol
            struct Int
            alias Int.IntegerLiteralType = Int
            alias Int.Magnitude = UInt
            struct Int.SIMD16Storage
            struct Int.SIMD2Storage
            struct Int.SIMD32Storage
            struct Int.SIMD4Storage
            struct Int.SIMD64Storage
            struct Int.SIMD8Storage
            alias Int.SIMDMaskScalar = Int
            struct Int.Words
            struct Int128
            alias Int128.IntegerLiteralType = Int128
            alias Int128.Magnitude = UInt128
            struct Int16
            alias Int16.IntegerLiteralType = Int16
            alias Int16.Magnitude = UInt16
            struct Int16.SIMD16Storage
            struct Int16.SIMD2Storage
            struct Int16.SIMD32Storage
            struct Int16.SIMD4Storage
            struct Int16.SIMD64Storage
            struct Int16.SIMD8Storage
            alias Int16.SIMDMaskScalar = Int16
            struct Int16.Words
            struct Int32
            alias Int32.IntegerLiteralType = Int32
            alias Int32.Magnitude = UInt32
            struct Int32.SIMD16Storage
            struct Int32.SIMD2Storage
            struct Int32.SIMD32Storage
            struct Int32.SIMD4Storage
            struct Int32.SIMD64Storage
            struct Int32.SIMD8Storage
            alias Int32.SIMDMaskScalar = Int32
            struct Int32.Words
            struct Int64
            alias Int64.IntegerLiteralType = Int64
            alias Int64.Magnitude = UInt64
            struct Int64.SIMD16Storage
            struct Int64.SIMD2Storage
            struct Int64.SIMD32Storage
            struct Int64.SIMD4Storage
            struct Int64.SIMD64Storage
            struct Int64.SIMD8Storage
            alias Int64.SIMDMaskScalar = Int64
            struct Int64.Words
            struct Int8
            alias Int8.IntegerLiteralType = Int8
            alias Int8.Magnitude = UInt8
            struct Int8.SIMD16Storage
            struct Int8.SIMD2Storage
            struct Int8.SIMD32Storage
            struct Int8.SIMD4Storage
            struct Int8.SIMD64Storage
            struct Int8.SIMD8Storage
            alias Int8.SIMDMaskScalar = Int8
            struct Int8.Words
            alias IntegerLiteralConvertible = ExpressibleByIntegerLiteral
            alias IntegerLiteralType = Int
            protocol IteratorProtocol
            struct IteratorSequence 1
            struct JoinedSequence 1
            struct JoinedSequence.Iterator
            class KeyPath 2
            struct KeyValuePairs 2
            struct KeyedDecodingContainer 1
            protocol KeyedDecodingContainerProtocol
            struct KeyedEncodingContainer 1
            protocol KeyedEncodingContainerProtocol
            protocol LazyCollectionProtocol
            struct LazyDropWhileSequence 1
            struct LazyDropWhileSequence.Iterator
            struct LazyFilterSequence 1
            struct LazyFilterSequence.Iterator
            struct LazyMapSequence 2
            struct LazyMapSequence.Iterator
            struct LazyPrefixWhileSequence 1
            struct LazyPrefixWhileSequence.Index
            struct LazyPrefixWhileSequence.Iterator
            struct LazySequence 1
            protocol LazySequenceProtocol
            protocol LosslessStringConvertible
            class ManagedBuffer 2
            struct ManagedBufferPointer 2
            enum MemoryLayout 1
            struct Mirror
            enum Mirror.AncestorRepresentation
            alias Mirror.Children = AnyCollection<Mirror.Child>
            enum Mirror.DisplayStyle
            protocol MirrorPath
            protocol MutableCollection
            alias MutableIndexable = MutableCollection
            struct MutableRawSpan
            struct MutableSpan 1
            enum Never
            alias NilLiteralConvertible = ExpressibleByNilLiteral
            protocol Numeric
            struct ObjectIdentifier
            struct OpaquePointer
            protocol OptionSet
            enum Optional 1
            struct OutputRawSpan
            struct OutputSpan 1
            class PartialKeyPath 1
            struct PartialRangeFrom 1
            struct PartialRangeFrom.Iterator
            struct PartialRangeThrough 1
            struct PartialRangeUpTo 1
            struct PrefixSequence 1
            struct PrefixSequence.Iterator
            protocol RandomAccessCollection
            alias RandomAccessIndexable = RandomAccessCollection
            protocol RandomNumberGenerator
            struct Range 1
            protocol RangeExpression
            protocol RangeReplaceableCollection
            alias RangeReplaceableIndexable = RangeReplaceableCollection
            struct RangeSet 1
            struct RangeSet.Ranges
            protocol RawRepresentable
            struct RawSpan
            class ReferenceWritableKeyPath 2
            struct Repeated 1
            enum Result 2
            struct ReversedCollection 1
            struct ReversedCollection.Index
            struct ReversedCollection.Iterator
            protocol SIMD
            struct SIMD16 1
            struct SIMD2 1
            struct SIMD3 1
            struct SIMD32 1
            struct SIMD4 1
            struct SIMD64 1
            struct SIMD8 1
            struct SIMDMask 1
            protocol SIMDScalar
            protocol SIMDStorage
            protocol Sendable
            protocol SendableMetatype
            protocol Sequence
            struct Set 1
            struct Set.Index
            struct Set.Iterator
            protocol SetAlgebra
            protocol SignedInteger
            protocol SignedNumeric
            protocol SingleValueDecodingContainer
            protocol SingleValueEncodingContainer
            struct Slice 1
            struct Span 1
            struct StaticBigInt
            struct StaticString
            struct StrideThrough 1
            struct StrideThroughIterator 1
            struct StrideTo 1
            struct StrideToIterator 1
            protocol Strideable
            struct String
            alias String.CharacterView = String
            alias String.Element = Character
            struct String.Index
            alias String.IndexDistance = Int
            struct String.Iterator
            alias String.SubSequence = Substring
            struct String.UTF16View
            struct String.UTF16View.Iterator
            struct String.UTF8View
            alias String.UnicodeScalarIndex = String.UnicodeScalarView.Index
            struct String.UnicodeScalarView
            struct String.UnicodeScalarView.Iterator
            alias StringInterpolationConvertible = ExpressibleByStringInterpolation
            protocol StringInterpolationProtocol
            alias StringLiteralConvertible = ExpressibleByStringLiteral
            alias StringLiteralType = String
            protocol StringProtocol
            struct Substring
            alias Substring.CharacterView = Substring
            alias Substring.Index = String.Index
            alias Substring.SubSequence = Substring
            struct Substring.UTF16View
            struct Substring.UTF8View
            struct Substring.UnicodeScalarView
            struct SystemRandomNumberGenerator
            protocol TextOutputStream
            protocol TextOutputStreamable
            struct UInt
            alias UInt.IntegerLiteralType = UInt
            alias UInt.Magnitude = UInt
            struct UInt.SIMD16Storage
            struct UInt.SIMD2Storage
            struct UInt.SIMD32Storage
            struct UInt.SIMD4Storage
            struct UInt.SIMD64Storage
            struct UInt.SIMD8Storage
            alias UInt.SIMDMaskScalar = Int
            struct UInt.Words
            struct UInt128
            alias UInt128.IntegerLiteralType = UInt128
            alias UInt128.Magnitude = UInt128
            struct UInt128.Words
            struct UInt16
            alias UInt16.IntegerLiteralType = UInt16
            alias UInt16.Magnitude = UInt16
            struct UInt16.SIMD16Storage
            struct UInt16.SIMD2Storage
            struct UInt16.SIMD32Storage
            struct UInt16.SIMD4Storage
            struct UInt16.SIMD64Storage
            struct UInt16.SIMD8Storage
            alias UInt16.SIMDMaskScalar = Int16
            struct UInt16.Words
            struct UInt32
            alias UInt32.IntegerLiteralType = UInt32
            alias UInt32.Magnitude = UInt32
            struct UInt32.SIMD16Storage
            struct UInt32.SIMD2Storage
            struct UInt32.SIMD32Storage
            struct UInt32.SIMD4Storage
            struct UInt32.SIMD64Storage
            struct UInt32.SIMD8Storage
            alias UInt32.SIMDMaskScalar = Int32
            struct UInt32.Words
            struct UInt64
            alias UInt64.IntegerLiteralType = UInt64
            alias UInt64.Magnitude = UInt64
            struct UInt64.SIMD16Storage
            struct UInt64.SIMD2Storage
            struct UInt64.SIMD32Storage
            struct UInt64.SIMD4Storage
            struct UInt64.SIMD64Storage
            struct UInt64.SIMD8Storage
            alias UInt64.SIMDMaskScalar = Int64
            struct UInt64.Words
            struct UInt8
            alias UInt8.IntegerLiteralType = UInt8
            alias UInt8.Magnitude = UInt8
            struct UInt8.SIMD16Storage
            struct UInt8.SIMD2Storage
            struct UInt8.SIMD32Storage
            struct UInt8.SIMD4Storage
            struct UInt8.SIMD64Storage
            struct UInt8.SIMD8Storage
            alias UInt8.SIMDMaskScalar = Int8
            struct UInt8.Words
            alias UTF16 = Unicode.UTF16
            alias UTF32 = Unicode.UTF32
            alias UTF8 = Unicode.UTF8
            struct UTF8Span
            struct UTF8Span.CharacterIterator
            struct UTF8Span.UnicodeScalarIterator
            enum UnboundedRange_
            struct UnfoldSequence 2
            enum Unicode
            enum Unicode.ASCII
            struct Unicode.ASCII.Parser
            struct Unicode.CanonicalCombiningClass
            alias Unicode.Encoding = _UnicodeEncoding
            enum Unicode.GeneralCategory
            enum Unicode.NumericType
            enum Unicode.ParseResult 1
            alias Unicode.Parser = _UnicodeParser
            struct Unicode.Scalar
            struct Unicode.Scalar.Properties
            struct Unicode.Scalar.UTF16View
            struct Unicode.Scalar.UTF8View
            enum Unicode.UTF16
            struct Unicode.UTF16.ForwardParser
            struct Unicode.UTF16.ReverseParser
            enum Unicode.UTF32
            struct Unicode.UTF32.Parser
            enum Unicode.UTF8
            struct Unicode.UTF8.ForwardParser
            struct Unicode.UTF8.ReverseParser
            struct Unicode.UTF8.ValidationError
            struct Unicode.UTF8.ValidationError.Kind
            protocol UnicodeCodec
            enum UnicodeDecodingResult
            alias UnicodeScalar = Unicode.Scalar
            alias UnicodeScalarLiteralConvertible = ExpressibleByUnicodeScalarLiteral
            alias UnicodeScalarType = String
            protocol UnkeyedDecodingContainer
            protocol UnkeyedEncodingContainer
            struct Unmanaged 1
            struct UnsafeBufferPointer 1
            struct UnsafeBufferPointer.Iterator
            alias UnsafeConcurrentValue = UnsafeSendable
            struct UnsafeMutableBufferPointer 1
            struct UnsafeMutablePointer 1
            struct UnsafeMutableRawBufferPointer
            alias UnsafeMutableRawBufferPointer.Element = UInt8
            alias UnsafeMutableRawBufferPointer.Index = Int
            alias UnsafeMutableRawBufferPointer.Indices = Range<Int>
            alias UnsafeMutableRawBufferPointer.Iterator = UnsafeRawBufferPointer.Iterator
            alias UnsafeMutableRawBufferPointer.SubSequence = Slice<UnsafeMutableRawBufferPointer>
            struct UnsafeMutableRawPointer
            alias UnsafeMutableRawPointer.Pointee = UInt8
            struct UnsafePointer 1
            struct UnsafeRawBufferPointer
            alias UnsafeRawBufferPointer.Element = UInt8
            alias UnsafeRawBufferPointer.Index = Int
            alias UnsafeRawBufferPointer.Indices = Range<Int>
            struct UnsafeRawBufferPointer.Iterator
            alias UnsafeRawBufferPointer.SubSequence = Slice<UnsafeRawBufferPointer>
            struct UnsafeRawPointer
            alias UnsafeRawPointer.Pointee = UInt8
            protocol UnsafeSendable
            protocol UnsignedInteger
            class WritableKeyPath 2
            struct Zip2Sequence 2
            struct Zip2Sequence.Iterator
            """
        ),
        (
            "Foundation",
            """
            struct AffineTransform
            alias AffineTransform.ReferenceType = NSAffineTransform
            struct AlignmentOptions
            class BlockOperation
            class Bundle
            class ByteCountFormatter
            enum ByteCountFormatter.CountStyle
            struct ByteCountFormatter.Units
            struct CGFloat
            alias CGFloat.Exponent = Int
            alias CGFloat.NativeType = Double
            alias CGFloat.RawSignificand = UInt
            struct CGPoint
            struct CGRect
            enum CGRectEdge
            struct CGSize
            struct CharacterSet
            alias CharacterSet.ReferenceType = NSCharacterSet
            protocol CustomNSError
            class DateFormatter
            enum DateFormatter.Style
            class DateIntervalFormatter
            enum DateIntervalFormatter.Style
            class Dimension
            class EnergyFormatter
            enum EnergyFormatter.Unit
            class FileHandle
            class Formatter
            enum Formatter.Context
            enum Formatter.UnitStyle
            class Host
            class ISO8601DateFormatter
            struct ISO8601DateFormatter.Options
            struct IndexSet
            alias IndexSet.Element = Int
            struct IndexSet.Index
            struct IndexSet.RangeView
            alias IndexSet.ReferenceType = NSIndexSet
            enum InflectionRule
            class InputStream
            class JSONSerialization
            struct JSONSerialization.ReadingOptions
            struct JSONSerialization.WritingOptions
            class LengthFormatter
            enum LengthFormatter.Unit
            class MassFormatter
            enum MassFormatter.Unit
            struct Measurement 1
            struct Morphology
            struct Morphology.CustomPronoun
            enum Morphology.GrammaticalGender
            enum Morphology.GrammaticalNumber
            enum Morphology.PartOfSpeech
            class NSAffineTransform
            struct NSAffineTransformStruct
            class NSArray
            struct NSArray.Iterator
            class NSAttributedString
            struct NSAttributedString.EnumerationOptions
            struct NSAttributedString.Key
            struct NSBinarySearchingOptions
            class NSCache 2
            protocol NSCacheDelegate
            class NSCalendar
            struct NSCalendar.Identifier
            struct NSCalendar.Options
            struct NSCalendar.Unit
            class NSCharacterSet
            class NSCoder
            enum NSCoder.DecodingFailurePolicy
            protocol NSCoding
            class NSComparisonPredicate
            enum NSComparisonPredicate.Modifier
            enum NSComparisonPredicate.Operator
            struct NSComparisonPredicate.Options
            class NSCompoundPredicate
            enum NSCompoundPredicate.LogicalType
            class NSCondition
            class NSConditionLock
            protocol NSCopying
            class NSCountedSet
            class NSData
            alias NSData.Base64DecodingOptions = Data.Base64DecodingOptions
            alias NSData.Base64EncodingOptions = Data.Base64EncodingOptions
            alias NSData.ReadingOptions = Data.ReadingOptions
            alias NSData.SearchOptions = Data.SearchOptions
            alias NSData.WritingOptions = Data.WritingOptions
            class NSDate
            class NSDateComponents
            class NSDateInterval
            class NSDecimalNumber
            alias NSDecimalNumber.CalculationError = Decimal.CalculationError
            alias NSDecimalNumber.RoundingMode = Decimal.RoundingMode
            protocol NSDecimalNumberBehaviors
            class NSDecimalNumberHandler
            class NSDictionary
            struct NSDictionary.Iterator
            struct NSEdgeInsets
            struct NSEnumerationOptions
            class NSEnumerator
            struct NSEnumerator.Iterator
            class NSError
            alias NSErrorDomain = NSString
            struct NSExceptionName
            class NSExpression
            enum NSExpression.ExpressionType
            class NSIndexPath
            class NSIndexSet
            struct NSIndexSetIterator
            alias NSIndexSetIterator.Element = Int
            class NSKeyedArchiver
            protocol NSKeyedArchiverDelegate
            class NSKeyedUnarchiver
            protocol NSKeyedUnarchiverDelegate
            class NSLocale
            struct NSLocale.Key
            alias NSLocale.LanguageDirection = Locale.LanguageDirection
            class NSLock
            protocol NSLocking
            class NSMeasurement
            class NSMutableArray
            class NSMutableAttributedString
            class NSMutableCharacterSet
            protocol NSMutableCopying
            class NSMutableData
            class NSMutableDictionary
            class NSMutableIndexSet
            class NSMutableOrderedSet
            class NSMutableSet
            class NSMutableString
            class NSNotification
            struct NSNotification.Name
            class NSNull
            class NSNumber
            class NSObject
            protocol NSObjectProtocol
            class NSOrderedSet
            alias NSOrderedSet.Iterator = NSEnumerator.Iterator
            class NSOrthography
            class NSPersonNameComponents
            alias NSPoint = CGPoint
            alias NSPointArray = UnsafeMutablePointer<NSPoint>
            alias NSPointPointer = UnsafeMutablePointer<NSPoint>
            class NSPredicate
            alias NSRangePointer = UnsafeMutablePointer<NSRange>
            alias NSRect = CGRect
            alias NSRectArray = UnsafeMutablePointer<NSRect>
            enum NSRectEdge
            alias NSRectPointer = UnsafeMutablePointer<NSRect>
            class NSRecursiveLock
            class NSRegularExpression
            struct NSRegularExpression.MatchingFlags
            struct NSRegularExpression.MatchingOptions
            struct NSRegularExpression.Options
            protocol NSSecureCoding
            class NSSet
            alias NSSet.Iterator = NSEnumerator.Iterator
            alias NSSize = CGSize
            alias NSSizeArray = UnsafeMutablePointer<NSSize>
            alias NSSizePointer = UnsafeMutablePointer<NSSize>
            class NSSortDescriptor
            struct NSSortOptions
            class NSString
            alias NSString.CompareOptions = String.CompareOptions
            struct NSString.EncodingConversionOptions
            struct NSString.EnumerationOptions
            struct NSTextCheckingKey
            class NSTextCheckingResult
            struct NSTextCheckingResult.CheckingType
            class NSTimeZone
            alias NSTimeZone.NameStyle = TimeZone.NameStyle
            class NSURL
            class NSURLComponents
            class NSURLQueryItem
            class NSUUID
            class NSValue
            struct NSZone
            struct Notification
            alias Notification.Name = NSNotification.Name
            alias Notification.ReferenceType = NSNotification
            class NotificationQueue
            struct NotificationQueue.NotificationCoalescing
            enum NotificationQueue.PostingStyle
            class NumberFormatter
            enum NumberFormatter.PadPosition
            enum NumberFormatter.RoundingMode
            enum NumberFormatter.Style
            struct ObjCBool
            class Operation
            enum Operation.QueuePriority
            class OperationQueue
            class OutputStream
            struct PersonNameComponents
            alias PersonNameComponents.ReferenceType = NSPersonNameComponents
            class PersonNameComponentsFormatter
            struct PersonNameComponentsFormatter.Options
            enum PersonNameComponentsFormatter.Style
            class Pipe
            class Port
            protocol PortDelegate
            class PortMessage
            class Process
            enum Process.TerminationReason
            class Progress
            struct Progress.FileOperationKind
            struct ProgressKind
            protocol ProgressReporting
            struct ProgressUserInfoKey
            class PropertyListSerialization
            struct PropertyListSerialization.MutabilityOptions
            alias PropertyListSerialization.PropertyListFormat = PropertyListDecoder.PropertyListFormat
            alias PropertyListSerialization.ReadOptions = PropertyListSerialization.MutabilityOptions
            alias PropertyListSerialization.WriteOptions = Int
            enum QualityOfService
            protocol RecoverableError
            protocol ReferenceConvertible
            class RunLoop
            struct RunLoop.Mode
            class Scanner
            enum Scanner.NumberRepresentation
            alias SocketNativeHandle = Int32
            class SocketPort
            class Stream
            struct Stream.Event
            struct Stream.PropertyKey
            enum Stream.Status
            protocol StreamDelegate
            struct StreamNetworkServiceTypeValue
            struct StreamSOCKSProxyConfiguration
            struct StreamSOCKSProxyVersion
            struct StreamSocketSecurityLevel
            struct StringTransform
            class Thread
            alias TimeInterval = Double
            class Timer
            struct URLError
            enum URLError.Code
            struct URLFileResourceType
            struct URLResourceKey
            struct URLResourceValues
            class Unit
            class UnitAcceleration
            class UnitAngle
            class UnitArea
            class UnitConcentrationMass
            class UnitConverter
            class UnitConverterLinear
            class UnitDispersion
            class UnitDuration
            class UnitElectricCharge
            class UnitElectricCurrent
            class UnitElectricPotentialDifference
            class UnitElectricResistance
            class UnitEnergy
            class UnitFrequency
            class UnitFuelEfficiency
            class UnitIlluminance
            class UnitInformationStorage
            class UnitLength
            class UnitMass
            class UnitPower
            class UnitPressure
            class UnitSpeed
            class UnitTemperature
            class UnitVolume
            class UserDefaults
            alias unichar = UInt16
            """
        ),
        (
            "FoundationEssentials",
            """
            struct AttributeContainer
            struct AttributeContainer.Builder 1
            enum AttributeDynamicLookup
            protocol AttributeScope
            struct AttributeScopeCodableConfiguration
            struct AttributedString
            struct AttributedString.AttributeInvalidationCondition
            enum AttributedString.AttributeMergePolicy
            enum AttributedString.AttributeRunBoundaries
            struct AttributedString.CharacterView
            struct AttributedString.Index
            struct AttributedString.Runs
            struct AttributedString.Runs.AttributesSlice1 1
            struct AttributedString.Runs.AttributesSlice1.Iterator
            struct AttributedString.Runs.AttributesSlice2 2
            struct AttributedString.Runs.AttributesSlice2.Iterator
            struct AttributedString.Runs.AttributesSlice3 3
            struct AttributedString.Runs.AttributesSlice3.Iterator
            struct AttributedString.Runs.AttributesSlice4 4
            struct AttributedString.Runs.AttributesSlice4.Iterator
            struct AttributedString.Runs.AttributesSlice5 5
            struct AttributedString.Runs.AttributesSlice5.Iterator
            struct AttributedString.Runs.Index
            struct AttributedString.Runs.Run
            struct AttributedString.SingleAttributeTransformer 1
            struct AttributedString.UTF16View
            struct AttributedString.UTF8View
            struct AttributedString.UnicodeScalarView
            enum AttributedString.WritingDirection
            protocol AttributedStringAttributeMutation
            protocol AttributedStringKey
            protocol AttributedStringProtocol
            struct AttributedSubstring
            struct Calendar
            enum Calendar.Component
            enum Calendar.Identifier
            enum Calendar.MatchingPolicy
            struct Calendar.RecurrenceRule
            struct Calendar.RecurrenceRule.End
            enum Calendar.RecurrenceRule.Frequency
            struct Calendar.RecurrenceRule.Month
            enum Calendar.RecurrenceRule.Weekday
            enum Calendar.RepeatedTimePolicy
            enum Calendar.SearchDirection
            struct CocoaError
            struct CocoaError.Code
            alias CodableAttributedStringKey = DecodableAttributedStringKey & EncodableAttributedStringKey
            struct CodableConfiguration 2
            alias CodableWithConfiguration = DecodableWithConfiguration & EncodableWithConfiguration
            struct ComparableComparator 1
            enum ComparisonResult
            protocol ContiguousBytes
            struct Data
            struct Data.Base64DecodingOptions
            struct Data.Base64EncodingOptions
            enum Data.Deallocator
            alias Data.Index = Int
            alias Data.Indices = Range<Int>
            struct Data.Iterator
            struct Data.ReadingOptions
            struct Data.SearchOptions
            struct Data.WritingOptions
            protocol DataProtocol
            struct Date
            struct Date.ISO8601FormatStyle
            enum Date.ISO8601FormatStyle.DateSeparator
            enum Date.ISO8601FormatStyle.DateTimeSeparator
            enum Date.ISO8601FormatStyle.TimeSeparator
            enum Date.ISO8601FormatStyle.TimeZoneSeparator
            alias Date.Stride = TimeInterval
            struct DateComponents
            struct DateComponents.ISO8601FormatStyle
            struct DateInterval
            struct Decimal
            enum Decimal.CalculationError
            enum Decimal.RoundingMode
            protocol DecodableAttributedStringKey
            protocol DecodableWithConfiguration
            protocol DecodingConfigurationProviding
            struct DiscontiguousAttributedSubstring
            protocol DiscreteFormatStyle
            protocol EncodableAttributedStringKey
            protocol EncodableWithConfiguration
            protocol EncodingConfigurationProviding
            struct Expression 2
            struct FileAttributeKey
            alias FileAttributeKey.RawValue = String
            struct FileAttributeType
            class FileManager
            struct FileManager.DirectoryEnumerationOptions
            struct FileManager.ItemReplacementOptions
            enum FileManager.SearchPathDirectory
            struct FileManager.SearchPathDomainMask
            enum FileManager.URLRelationship
            struct FileManager.UnmountOptions
            protocol FileManagerDelegate
            struct FileProtectionType
            protocol FormatStyle
            struct IndexPath
            alias IndexPath.Element = Int
            alias IndexPath.Index = Array<Int>.Index
            alias IndexPath.Indices = DefaultIndices<IndexPath>
            class JSONDecoder
            enum JSONDecoder.DataDecodingStrategy
            enum JSONDecoder.DateDecodingStrategy
            enum JSONDecoder.KeyDecodingStrategy
            enum JSONDecoder.NonConformingFloatDecodingStrategy
            class JSONEncoder
            enum JSONEncoder.DataEncodingStrategy
            enum JSONEncoder.DateEncodingStrategy
            enum JSONEncoder.KeyEncodingStrategy
            enum JSONEncoder.NonConformingFloatEncodingStrategy
            struct JSONEncoder.OutputFormatting
            struct Locale
            struct Locale.Collation
            struct Locale.Components
            struct Locale.Currency
            enum Locale.HourCycle
            enum Locale.IdentifierType
            struct Locale.Language
            struct Locale.Language.Components
            struct Locale.LanguageCode
            enum Locale.LanguageCode.IdentifierType
            enum Locale.LanguageDirection
            struct Locale.MeasurementSystem
            struct Locale.NumberingSystem
            struct Locale.Region
            struct Locale.Script
            struct Locale.Subdivision
            struct Locale.Variant
            enum Locale.Weekday
            protocol LocalizedError
            protocol MarkdownDecodableAttributedStringKey
            protocol MutableDataProtocol
            class NotificationCenter
            protocol NotificationCenter.AsyncMessage
            struct NotificationCenter.BaseMessageIdentifier 1
            protocol NotificationCenter.MainActorMessage
            protocol NotificationCenter.MessageIdentifier
            struct NotificationCenter.ObservationToken
            struct OperatingSystemVersion
            struct POSIXError
            alias POSIXError.Code = POSIXErrorCode
            protocol ParseStrategy
            protocol ParseableFormatStyle
            struct Predicate 1
            struct PredicateBindings
            struct PredicateError
            protocol PredicateExpression
            enum PredicateExpressions
            struct PredicateExpressions.Arithmetic 2
            enum PredicateExpressions.ArithmeticOperator
            struct PredicateExpressions.ClosedRange 2
            struct PredicateExpressions.CollectionContainsCollection 2
            struct PredicateExpressions.CollectionIndexSubscript 2
            struct PredicateExpressions.CollectionRangeSubscript 2
            struct PredicateExpressions.Comparison 2
            enum PredicateExpressions.ComparisonOperator
            struct PredicateExpressions.Conditional 3
            struct PredicateExpressions.ConditionalCast 2
            struct PredicateExpressions.Conjunction 2
            struct PredicateExpressions.DictionaryKeyDefaultValueSubscript 3
            struct PredicateExpressions.DictionaryKeySubscript 3
            struct PredicateExpressions.Disjunction 2
            struct PredicateExpressions.Equal 2
            struct PredicateExpressions.ExpressionEvaluate 3
            struct PredicateExpressions.Filter 2
            struct PredicateExpressions.FloatDivision 2
            struct PredicateExpressions.ForceCast 2
            struct PredicateExpressions.ForcedUnwrap 2
            struct PredicateExpressions.IntDivision 2
            struct PredicateExpressions.IntRemainder 2
            struct PredicateExpressions.KeyPath 2
            enum PredicateExpressions.KeyPath.CommonKeyPathKind
            struct PredicateExpressions.Negation 1
            struct PredicateExpressions.NilCoalesce 2
            struct PredicateExpressions.NilLiteral 1
            struct PredicateExpressions.NotEqual 2
            struct PredicateExpressions.OptionalFlatMap 4
            struct PredicateExpressions.PredicateRegex
            struct PredicateExpressions.Range 2
            struct PredicateExpressions.RangeExpressionContains 2
            struct PredicateExpressions.SequenceAllSatisfy 2
            struct PredicateExpressions.SequenceContains 2
            struct PredicateExpressions.SequenceContainsWhere 2
            struct PredicateExpressions.SequenceMaximum 1
            struct PredicateExpressions.SequenceMinimum 1
            struct PredicateExpressions.SequenceStartsWith 2
            struct PredicateExpressions.StringContainsRegex 2
            struct PredicateExpressions.TypeCheck 2
            struct PredicateExpressions.UnaryMinus 1
            struct PredicateExpressions.Value 1
            struct PredicateExpressions.Variable 1
            struct PredicateExpressions.VariableID
            class ProcessInfo
            class PropertyListDecoder
            enum PropertyListDecoder.PropertyListFormat
            class PropertyListEncoder
            struct ScopedAttributeContainer 1
            protocol SortComparator
            enum SortOrder
            protocol StandardPredicateExpression
            alias TimeInterval = Double
            struct TimeZone
            enum TimeZone.NameStyle
            struct URL
            enum URL.DirectoryHint
            struct URL.Template
            struct URL.Template.Value
            struct URL.Template.VariableName
            struct URLComponents
            struct URLQueryItem
            struct URLResourceKey
            struct UUID
            """
        ),
        (
            "FoundationInternationalization",
            """
            struct ByteCountFormatStyle
            struct ByteCountFormatStyle.Attributed
            enum ByteCountFormatStyle.Style
            struct ByteCountFormatStyle.Units
            enum CurrencyFormatStyleConfiguration
            alias CurrencyFormatStyleConfiguration.DecimalSeparatorDisplayStrategy = NumberFormatStyleConfiguration.DecimalSeparatorDisplayStrategy
            alias CurrencyFormatStyleConfiguration.Grouping = NumberFormatStyleConfiguration.Grouping
            alias CurrencyFormatStyleConfiguration.Notation = NumberFormatStyleConfiguration.Notation
            alias CurrencyFormatStyleConfiguration.Precision = NumberFormatStyleConfiguration.Precision
            struct CurrencyFormatStyleConfiguration.Presentation
            alias CurrencyFormatStyleConfiguration.RoundingRule = NumberFormatStyleConfiguration.RoundingRule
            struct CurrencyFormatStyleConfiguration.SignDisplayStrategy
            enum DescriptiveNumberFormatConfiguration
            alias DescriptiveNumberFormatConfiguration.CapitalizationContext = FormatStyleCapitalizationContext
            struct DescriptiveNumberFormatConfiguration.Presentation
            class Dimension
            struct FloatingPointFormatStyle 1
            struct FloatingPointFormatStyle.Attributed
            struct FloatingPointFormatStyle.Currency
            struct FloatingPointFormatStyle.Percent
            struct FloatingPointParseStrategy 1
            struct FormatStyleCapitalizationContext
            struct IntegerFormatStyle 1
            struct IntegerFormatStyle.Attributed
            struct IntegerFormatStyle.Currency
            struct IntegerFormatStyle.Percent
            struct IntegerParseStrategy 1
            struct KeyPathComparator 1
            struct ListFormatStyle 2
            enum ListFormatStyle.ListType
            enum ListFormatStyle.Width
            struct Measurement 1
            struct Measurement.FormatStyle
            struct Measurement.FormatStyle.UnitWidth
            enum NumberFormatStyleConfiguration
            struct NumberFormatStyleConfiguration.DecimalSeparatorDisplayStrategy
            struct NumberFormatStyleConfiguration.Grouping
            struct NumberFormatStyleConfiguration.Notation
            struct NumberFormatStyleConfiguration.Precision
            alias NumberFormatStyleConfiguration.RoundingRule = FloatingPointRoundingRule
            struct NumberFormatStyleConfiguration.SignDisplayStrategy
            struct SortDescriptor 1
            struct StringStyle
            class UnitDuration
            """
        ),
    ]
}
