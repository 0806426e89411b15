//! JSON, decoded without ever being surprised.
//!
//! A tool's format moves every month: a string becomes an object, a field is null or gone. A value of an unexpected type is
//! therefore read as "not there" and never fails the record; what is not asked for is stepped over without being decoded.
//! Everything borrows from the line, so that only strings with escapes are copied.

use std::borrow::Cow;
use std::marker::PhantomData;

use memchr::memmem::Finder;
#[doc(hidden)]
pub use serde::de;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A value of any type, undecoded; none if null.
pub type Raw<'a> = Option<&'a RawValue>;

/// Visitor methods that take any other value for "not there".
#[doc(hidden)]
#[macro_export]
macro_rules! json_not_there {
    ($($method:ident($type:ty)),*) => {
        $(fn $method<E: $crate::json::de::Error>(self, _: $type) -> Result<Self::Value, E> { Ok(Self::Value::default()) })*

        fn visit_unit<E: $crate::json::de::Error>(self) -> Result<Self::Value, E> {
            Ok(Self::Value::default())
        }

        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("any value")
        }
    };
    (map) => {
        fn visit_map<A: $crate::json::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            while map.next_entry::<$crate::json::de::IgnoredAny, $crate::json::de::IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
    (seq) => {
        fn visit_seq<A: $crate::json::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            while seq.next_element::<$crate::json::de::IgnoredAny>()?.is_some() {}
            Ok(Self::Value::default())
        }
    };
}

/// A string, borrowed where it has no escapes; none for anything else.
#[derive(Debug, Default, Clone)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// The string; empty if there is none.
    pub fn as_str(&self) -> &str {
        self.0.as_deref().unwrap_or_default()
    }

    /// The string, if it is there and says something.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref().filter(|text| !text.is_empty())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Any<'a> {
            type Value = Text<'a>;

            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Text<'a>, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Text<'a>, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }

            json_not_there!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64));
            json_not_there!(map);
            json_not_there!(seq);
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

/// A boolean; false for anything else.
#[derive(Debug, Default, Clone, Copy)]
pub struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Flag;

            fn visit_bool<E: Error>(self, value: bool) -> Result<Flag, E> {
                Ok(Flag(value))
            }

            json_not_there!(visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
            json_not_there!(map);
            json_not_there!(seq);
        }
        deserializer.deserialize_any(Any)
    }
}

/// The bytes of a value.
#[derive(Debug, Default, Clone, Copy)]
pub struct Span<'a>(pub &'a [u8]);

impl Span<'_> {
    /// Is it an object with this `"field":value` somewhere? What a tool printed cannot be taken for one: its quotes are
    /// escaped.
    pub fn says(self, field: &Finder<'_>) -> bool {
        self.0.first() == Some(&b'{') && field.find(self.0).is_some()
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Span<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Ok(Self(raw.get().as_bytes()))
    }
}

/// A whole number; none for anything else.
#[derive(Debug, Default, Clone, Copy)]
pub struct Number(pub Option<u64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Number;

            fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
                Ok(Number(Some(value)))
            }

            json_not_there!(visit_bool(bool), visit_i64(i64), visit_f64(f64), visit_str(&str));
            json_not_there!(map);
            json_not_there!(seq);
        }
        deserializer.deserialize_any(Any)
    }
}

/// A list of `T`; empty for anything else.
#[derive(Debug)]
pub struct List<T>(pub Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Any<T> {
            type Value = List<T>;

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut list = List::default();
                while let Some(item) = seq.next_element()? {
                    list.0.push(item);
                }
                Ok(list)
            }

            json_not_there!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
            json_not_there!(map);
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

/// The entries of an object in the order written; empty for anything else.
#[derive(Debug, Default)]
pub struct Entries<'a>(pub Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Entries<'a> {
    /// The string under a key; none for a value of another type.
    pub fn text(&self, key: &str) -> Option<Cow<'a, str>> {
        let (_, raw) = self.0.iter().find(|(name, _)| name == key)?;
        serde_json::from_str::<Text<'a>>(raw.get()).ok()?.0
    }

    /// A tool's arguments for reading and comparing: `key: value` lines in the order written, strings without quotes and
    /// escapes.
    pub fn show(&self) -> String {
        let mut shown = String::new();
        for (key, raw) in &self.0 {
            if !shown.is_empty() {
                shown.push('\n');
            }
            shown.push_str(key);
            shown.push_str(": ");
            match serde_json::from_str::<Text<'_>>(raw.get()).unwrap_or_default().0 {
                Some(text) => shown.push_str(&text),
                None => shown.push_str(raw.get()),
            }
        }
        shown
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Any<'a> {
            type Value = Entries<'a>;

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries<'a>, A::Error> {
                let mut entries = Entries::default();
                while let Some((key, value)) = map.next_entry::<Text<'a>, &'a RawValue>()? {
                    entries.0.push((key.0.unwrap_or_default(), value));
                }
                Ok(entries)
            }

            json_not_there!(visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str));
            json_not_there!(seq);
        }
        deserializer.deserialize_any(Any(PhantomData))
    }
}

/// Declares a struct that is read from an object: `"key" => field: Type`. Keys that are not named are stepped over, a key
/// that comes twice counts as it came last, and what is no object has the default in every field.
#[macro_export]
macro_rules! json_object {
    ($(#[$meta:meta])* $vis:vis struct $name:ident<'a> {
        $($(#[$doc:meta])* $key:literal => $field:ident: $type:ty,)*
    }) => {
        $(#[$meta])*
        #[derive(Debug, Default)]
        $vis struct $name<'a> {
            $($(#[$doc])* $vis $field: $type,)*
        }

        impl<'de: 'a, 'a> $crate::json::de::Deserialize<'de> for $name<'a> {
            fn deserialize<D: $crate::json::de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Any<'a>(std::marker::PhantomData<&'a ()>);
                impl<'de: 'a, 'a> $crate::json::de::Visitor<'de> for Any<'a> {
                    type Value = $name<'a>;

                    fn visit_map<A: $crate::json::de::MapAccess<'de>>(self, mut map: A) -> Result<$name<'a>, A::Error> {
                        let mut object = $name::default();
                        while let Some(key) = map.next_key::<$crate::json::Text<'a>>()? {
                            match key.as_str() {
                                $($key => object.$field = map.next_value()?,)*
                                _ => { map.next_value::<$crate::json::de::IgnoredAny>()?; }
                            }
                        }
                        Ok(object)
                    }

                    $crate::json::not_there!(
                        visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str)
                    );
                    $crate::json::not_there!(seq);
                }
                deserializer.deserialize_any(Any(std::marker::PhantomData))
            }
        }
    };
}

pub use json_not_there as not_there;
pub use json_object as object;

#[cfg(test)]
mod tests {
    use super::*;

    object! {
        /// One of each.
        struct Sample<'a> {
            "text" => text: Text<'a>,
            "flag" => flag: Flag,
            "number" => number: Number,
            "list" => list: List<Text<'a>>,
            "entries" => entries: Entries<'a>,
            "raw" => raw: Raw<'a>,
        }
    }

    #[test]
    fn any_value_may_stand_anywhere() {
        for value in ["null", "true", "1", "-1", "1.5", r#""é\n""#, "[]", "[1,[2]]", "{}", r#"{"a":{"b":[1]}}"#] {
            let line = format!(
                r#"{{"text":{value},"flag":{value},"number":{value},"list":{value},"entries":{value},"raw":{value},
                    "other":{value},"text":{value}}}"#
            );
            let sample: Sample<'_> = serde_json::from_str(&line).unwrap();
            assert_eq!(sample.flag.0, value == "true", "{value}");
            assert_eq!(sample.number.0, (value == "1").then_some(1), "{value}");
            assert_eq!(sample.text.get().is_some(), value.starts_with('"'), "{value}");
            assert_eq!(sample.list.0.len(), if value == "[1,[2]]" { 2 } else { 0 }, "{value}");
            assert_eq!(sample.entries.0.len(), usize::from(value.starts_with("{\"")), "{value}");
            assert_eq!(sample.raw.is_none(), value == "null", "{value}");
            serde_json::from_str::<Sample<'_>>(value).unwrap();
        }
    }

    #[test]
    fn arguments_are_shown_in_the_order_written() {
        let entries: Entries<'_> = serde_json::from_str(r#"{"path":"a\nb","n":[1,{"x":2}],"s":""}"#).unwrap();
        assert_eq!(entries.show(), "path: a\nb\nn: [1,{\"x\":2}]\ns: ");
        assert_eq!(entries.text("path").as_deref(), Some("a\nb"));
        assert_eq!((entries.text("n"), entries.text("other")), (None, None));
    }
}
