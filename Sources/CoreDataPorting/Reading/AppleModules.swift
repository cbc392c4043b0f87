/// The modules that exist only on Apple's platforms, and rules that detect their use.
enum AppleModules {
    /// User interface frameworks: a source that needs one is of no use without it.
    static let userInterface: Set<String> = [
        "AppKit", "Cocoa", "SwiftUI", "UIKit", "WatchKit", "WidgetKit",
    ]

    static func isAppleOnly(_ module: String) -> Bool { userInterface.contains(module) || others.contains(module) }

    private static let others: Set<String> = [
        "ARKit", "AVFAudio", "AVFoundation", "AVKit", "Accelerate", "Accessibility", "AdSupport",
        "AppIntents", "AuthenticationServices", "BackgroundTasks", "CFNetwork", "CallKit", "CarPlay", "Charts",
        "ClockKit", "CloudKit", "Combine", "CommonCrypto", "Compression", "Contacts", "ContactsUI",
        "CoreAudio", "CoreBluetooth", "CoreGraphics", "CoreHaptics", "CoreImage", "CoreLocation", "CoreML",
        "CoreMedia", "CoreMotion", "CoreServices", "CoreSpotlight", "CoreTelephony", "CoreText", "CoreVideo",
        "CryptoKit", "Darwin", "EventKit", "EventKitUI", "ExtensionKit", "FileProvider", "GameKit", "GameplayKit",
        "HealthKit", "HomeKit", "ImageIO", "Intents", "IntentsUI", "IOKit", "JavaScriptCore", "LinkPresentation",
        "LocalAuthentication", "MapKit", "MediaPlayer", "MessageUI", "Messages", "Metal", "MetalKit", "MetricKit",
        "MobileCoreServices", "MultipeerConnectivity", "NaturalLanguage", "Network", "NetworkExtension", "OSLog",
        "ObjectiveC", "PDFKit", "PassKit", "Photos", "PhotosUI", "QuartzCore", "QuickLook", "RealityKit",
        "SafariServices", "SceneKit", "Security", "ServiceManagement", "Social", "Speech", "SpriteKit", "StoreKit",
        "SystemConfiguration", "TipKit", "UniformTypeIdentifiers", "UserNotifications",
        "UserNotificationsUI", "Vision", "VisionKit", "WatchConnectivity", "WebKit", "os", "simd",
    ]

    /// Returns whether a name belongs to the module. Names that Foundation also has do not count.
    static func owns(_ module: String, _ name: String) -> Bool {
        names[module]?.contains(name) == true || hasPrefix(of: module, name)
    }

    /// The names of SwiftUI that occur in sources that import SwiftData.
    static let swiftDataInterface: Set<String> = ["Query"]

    /// Returns the modules that a source's imports re-export: SwiftUI also provides UIKit's names.
    static func broughtAlong(by modules: some Sequence<String>) -> Set<String> {
        modules.contains("SwiftUI") ? ["UIKit", "AppKit"] : []
    }

    /// Returns the module of a name that a source uses without importing it: a bridging header or another module
    /// provides it. Only unambiguous names count.
    static func owner(ofNotImported name: String) -> String? {
        // `UIColor`; `UITEST` and `UIDMap` are the developer's own names.
        if name.hasPrefix("UI"), let first = name.dropFirst(2).first, first.isUppercase,
            name.dropFirst(3).first?.isLowercase == true
        {
            return "UIKit"
        }
        return distinctive.first { $0.names.contains(name) }?.module
    }

    private static let distinctive: [(module: String, names: Set<String>)] = [
        ("AppKit", appKitNames),
        (
            "CloudKit",
            [
                "CKAsset", "CKContainer", "CKDatabase", "CKQuery", "CKRecord", "CKRecordZone", "CKShare",
            ]
        ),
        (
            "Combine",
            ["AnyCancellable", "AnyPublisher", "CurrentValueSubject", "ObservableObject", "PassthroughSubject"]
        ),
        (
            "CoreGraphics",
            [
                "CGAffineTransform", "CGColor", "CGColorSpace", "CGContext", "CGImage", "CGMutablePath", "CGPath",
                "CGVector",
            ]
        ),
        (
            "CoreLocation",
            [
                "CLGeocoder", "CLLocation", "CLLocationCoordinate2D", "CLLocationDegrees", "CLLocationDistance",
                "CLLocationManager", "CLPlacemark", "CLRegion",
            ]
        ),
        (
            "CoreSpotlight",
            [
                "CSSearchableIndex", "CSSearchableItem", "CSSearchableItemAttributeSet",
                "NSCoreDataCoreSpotlightDelegate",
            ]
        ),
        ("MapKit", ["MKAnnotation", "MKCoordinateRegion", "MKMapItem", "MKMapView", "MKPlacemark"]),
        ("UniformTypeIdentifiers", ["UTType"]),
        ("UserNotifications", ["UNMutableNotificationContent", "UNNotificationRequest", "UNUserNotificationCenter"]),
        ("WebKit", ["WKWebView", "WKWebViewConfiguration"]),
        ("os", ["OSAllocatedUnfairLock", "OSLog", "OSSignposter", "os_log"]),
    ]

    private static let prefixes: [String: [String]] = [
        "ARKit": ["AR"], "AVFoundation": ["AV"], "AVKit": ["AV"], "AuthenticationServices": ["AS"],
        "BackgroundTasks": ["BG"], "CallKit": ["CX"], "CarPlay": ["CP"], "CloudKit": ["CK"],
        "CommonCrypto": ["CC_", "kCC"], "Contacts": ["CN"], "ContactsUI": ["CN"], "CoreBluetooth": ["CB"],
        "CoreImage": ["CI"], "CoreLocation": ["CL"], "CoreMedia": ["CM"], "CoreMotion": ["CM"],
        "CoreSpotlight": ["CS", "NSCoreDataCoreSpotlight"], "CoreTelephony": ["CT"], "CoreText": ["CT"],
        "CoreVideo": ["CV"], "EventKit": ["EK"], "EventKitUI": ["EK"], "FileProvider": ["NSFileProvider"],
        "GameKit": ["GK"], "HealthKit": ["HK"], "HomeKit": ["HM"], "ImageIO": ["CGImage"], "Intents": ["IN"],
        "LinkPresentation": ["LP"], "LocalAuthentication": ["LA"], "MapKit": ["MK"], "MediaPlayer": ["MP"],
        "MessageUI": ["MF"], "Messages": ["MS"], "Metal": ["MTL"], "MetricKit": ["MX"], "NaturalLanguage": ["NL"],
        "Network": ["NW"], "OSLog": ["OS", "os_"], "PDFKit": ["PDF"], "PassKit": ["PK"], "Photos": ["PH"],
        "PhotosUI": ["PH"], "QuartzCore": ["CA"], "QuickLook": ["QL"], "SafariServices": ["SF"], "SceneKit": ["SCN"],
        "Security": ["Sec", "kSec"], "SpriteKit": ["SK"], "StoreKit": ["SK"], "SystemConfiguration": ["SCNetwork"],
        "UIKit": ["UI"], "UserNotifications": ["UN"], "UserNotificationsUI": ["UN"], "Vision": ["VN"],
        "WatchConnectivity": ["WC"], "WatchKit": ["WK"], "WebKit": ["WK"], "os": ["OS", "os_"],
    ]

    /// Returns whether the name is the module's prefix followed by a name: `UIView`, not `UInt8` or `UI`.
    private static func hasPrefix(of module: String, _ name: String) -> Bool {
        for prefix in prefixes[module] ?? [] where name.hasPrefix(prefix) {
            let rest = name.dropFirst(prefix.count)
            guard let first = rest.first else { continue }
            if prefix.hasSuffix("_") || first.isUppercase { return true }
        }
        return false
    }

    private static let appKitNames: Set<String> = [
        "NSAlert", "NSApp", "NSApplication", "NSApplicationDelegate", "NSBezierPath", "NSButton", "NSCollectionView",
        "NSColor", "NSDocument", "NSEvent", "NSFont", "NSImage", "NSImageView", "NSMenu", "NSMenuItem",
        "NSOutlineView", "NSPasteboard", "NSPersistentDocument", "NSResponder", "NSScreen", "NSScrollView",
        "NSSplitViewController", "NSStoryboard", "NSTableView", "NSTextField", "NSTextView", "NSToolbar", "NSView",
        "NSViewController", "NSWindow", "NSWindowController", "NSWorkspace", "NSArrayController",
        "NSObjectController", "NSApplicationMain",
    ]

    private static let names: [String: Set<String>] = [
        "AppKit": appKitNames,
        "Cocoa": appKitNames,
        "UIKit": ["UIApplicationMain", "NSDiffableDataSourceSnapshot", "NSCollectionLayoutSection"],
        "SwiftUI": [
            "View", "App", "Scene", "WindowGroup", "State", "Binding", "Environment", "EnvironmentObject",
            "ObservedObject", "StateObject", "FetchRequest", "FetchedResults", "SectionedFetchRequest", "ViewBuilder",
            "ViewModifier", "EnvironmentKey", "EnvironmentValues", "Text", "VStack", "HStack", "ZStack", "List",
            "ForEach", "NavigationView", "NavigationStack", "NavigationLink", "Button", "Image", "Color",
            "PreviewProvider",
            "AppStorage", "SceneStorage", "Font", "Form", "LocalizedStringKey",
        ],
        "Combine": [
            "AnyCancellable", "AnyPublisher", "AnySubscriber", "Cancellable", "ConnectableObservable",
            "CurrentValueSubject", "Fail", "Future", "Just", "ObservableObject", "ObservableObjectPublisher",
            "PassthroughSubject", "Published", "Publisher", "Publishers", "Subject", "Subscriber", "Subscribers",
            "Subscription",
        ],
        "os": ["Logger"],
        "OSLog": ["Logger"],
        "CryptoKit": ["SHA256", "SHA512", "Insecure", "SymmetricKey", "HMAC", "AES"],
        "UniformTypeIdentifiers": ["UTType"],
        "WidgetKit": ["Widget", "WidgetCenter", "TimelineProvider", "TimelineEntry"],
    ]
}
